"""Does the code keep its promise: exact checks where the law is known, confident lower bounds elsewhere.

>>> from discreet.audit import audit
>>> report = audit(lambda answer: answer, 0, 1, claim=1, draws=1000)
>>> report.violated, round(report.observed_epsilon, 1)
(True, 2.7)
"""

from discreet.audit.audit import FAMILIES, audit, audit_case, audit_laws
from discreet.audit.case import Case
from discreet.audit.door import door
from discreet.audit.exact_check import ExactCheck
from discreet.audit.family import Family, Learning, Score
from discreet.audit.gallery import BROKEN, Exhibit
from discreet.audit.house import house, house_case
from discreet.audit.lattice import Lattice, LatticeReport, lattice
from discreet.audit.mechanism import Batched
from discreet.audit.one_run import OneRunReport, one_run
from discreet.audit.outcomes import Outcomes
from discreet.audit.proof import Proof
from discreet.audit.replay import ReplayReport, replay, replay_worlds
from discreet.audit.report import AuditReport
from discreet.audit.survey import Survey, survey
from discreet.audit.timing import TimingReport, timing
from discreet.audit.verdict import Verdict

# Imported here and not when first used: a function is named as its file, which would shadow it.
__all__ = [
    "BROKEN",
    "FAMILIES",
    "AuditReport",
    "Batched",
    "Case",
    "ExactCheck",
    "Exhibit",
    "Family",
    "Lattice",
    "LatticeReport",
    "Learning",
    "OneRunReport",
    "Outcomes",
    "Proof",
    "ReplayReport",
    "Score",
    "Survey",
    "TimingReport",
    "Verdict",
    "audit",
    "audit_case",
    "audit_laws",
    "door",
    "house",
    "house_case",
    "lattice",
    "one_run",
    "replay",
    "replay_worlds",
    "survey",
    "timing",
]
