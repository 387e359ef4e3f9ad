"""Does the code keep its promise: exact checks where the law is known, confident lower bounds elsewhere.

>>> from discreet.audit import audit
>>> report = audit(lambda answer: answer, 0, 1, claim=1, draws=1000)
>>> report.violated, round(report.observed_epsilon, 1)
(True, 2.7)
"""

from discreet.audit.audit import FAMILIES, AuditSuite, audit, audit_case, audit_laws, survey
from discreet.audit.builtin import Case, builtin_case, builtin_mechanisms
from discreet.audit.end_to_end import end_to_end
from discreet.audit.events import Family, Learning, OutcomeScore
from discreet.audit.exact_check import ExactCheck
from discreet.audit.float_lattice import FloatLattice, LatticeReport, lattice
from discreet.audit.gallery import BROKEN, Exhibit
from discreet.audit.mechanism import Batched, Verdict
from discreet.audit.one_run import OneRunReport, one_run
from discreet.audit.outcomes import Outcomes
from discreet.audit.proof import Proof
from discreet.audit.replay.replay import ReplayReport, replay, replay_worlds
from discreet.audit.report import AuditReport
from discreet.audit.timing import TimingReport, timing

# Imported here and not when first used: a function is named as its file, which would shadow it.
__all__ = [
    "BROKEN",
    "FAMILIES",
    "AuditReport",
    "AuditSuite",
    "Batched",
    "Case",
    "ExactCheck",
    "Exhibit",
    "Family",
    "FloatLattice",
    "LatticeReport",
    "Learning",
    "OneRunReport",
    "OutcomeScore",
    "Outcomes",
    "Proof",
    "ReplayReport",
    "TimingReport",
    "Verdict",
    "audit",
    "audit_case",
    "audit_laws",
    "builtin_case",
    "builtin_mechanisms",
    "end_to_end",
    "lattice",
    "one_run",
    "replay",
    "replay_worlds",
    "survey",
    "timing",
]
