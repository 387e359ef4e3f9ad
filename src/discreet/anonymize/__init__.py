"""Publishing tables: check and enforce k-anonymity, l-diversity and t-closeness. None of it is differential privacy.

>>> from discreet.anonymize import KAnonymity, Roles, check
>>> roles = Roles.of(["zip", "disease"], quasi="zip", sensitive="disease")
"""

from discreet.anonymize.arx_csv import read_arx_csv, write_arx_csv
from discreet.anonymize.check import check
from discreet.anonymize.check_report import CheckReport
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.dates import dates
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.intervals import intervals
from discreet.anonymize.masks import masked
from discreet.anonymize.models.alpha_k import AlphaK
from discreet.anonymize.models.beta_likeness import BetaLikeness
from discreet.anonymize.models.closeness import Closeness
from discreet.anonymize.models.delta_disclosure import DeltaDisclosure
from discreet.anonymize.models.distinct_diversity import DistinctDiversity
from discreet.anonymize.models.entropy_diversity import EntropyDiversity
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.recursive_diversity import RecursiveDiversity
from discreet.anonymize.ordered import ordered
from discreet.anonymize.roles import Role, Roles
from discreet.anonymize.taxonomy import taxonomy, taxonomy_of_parents

# Imported here and not when first used: several functions are named as their files, which would shadow them.
__all__ = [
    "AlphaK",
    "BetaLikeness",
    "CheckReport",
    "Closeness",
    "CodedTable",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "Hierarchy",
    "KAnonymity",
    "RecursiveDiversity",
    "Role",
    "Roles",
    "check",
    "dates",
    "intervals",
    "masked",
    "ordered",
    "read_arx_csv",
    "taxonomy",
    "taxonomy_of_parents",
    "write_arx_csv",
]
