"""Publishing tables: check and enforce k-anonymity, l-diversity and t-closeness. None of it is differential privacy.

>>> from discreet.anonymize import KAnonymity, Roles, check
>>> roles = Roles.of(["zip", "disease"], quasi="zip", sensitive="disease")
"""

from discreet.anonymize.arx_csv import read_arx_csv, write_arx_csv
from discreet.anonymize.cell_loss import column_losses
from discreet.anonymize.check import check
from discreet.anonymize.check_report import CheckReport
from discreet.anonymize.class_loss import class_losses
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.dates import dates
from discreet.anonymize.distinction import distinctions
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.histograms import column_histograms
from discreet.anonymize.intervals import intervals
from discreet.anonymize.local_recoding import local_recoding
from discreet.anonymize.masks import masked
from discreet.anonymize.microaggregation import microaggregate
from discreet.anonymize.models.alpha_k import AlphaK
from discreet.anonymize.models.beta_likeness import BetaLikeness
from discreet.anonymize.models.closeness import Closeness
from discreet.anonymize.models.delta_disclosure import DeltaDisclosure
from discreet.anonymize.models.distinct_diversity import DistinctDiversity
from discreet.anonymize.models.entropy_diversity import EntropyDiversity
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.recursive_diversity import RecursiveDiversity
from discreet.anonymize.mondrian import mondrian
from discreet.anonymize.optimal import OptimalResult, optimal
from discreet.anonymize.ordered import ordered
from discreet.anonymize.population import population_uniques
from discreet.anonymize.population_match import population_sizes
from discreet.anonymize.publication import Publication
from discreet.anonymize.query_error import query_error
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.recoding import Recoding
from discreet.anonymize.report import TableReport, table_report
from discreet.anonymize.risk import risks
from discreet.anonymize.roles import Role, Roles
from discreet.anonymize.taxonomy import taxonomy, taxonomy_of_parents
from discreet.anonymize.taxonomy_mondrian import taxonomy_mondrian

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
    "OptimalResult",
    "Publication",
    "Recoded",
    "Recoding",
    "RecursiveDiversity",
    "Role",
    "Roles",
    "TableReport",
    "check",
    "class_losses",
    "column_histograms",
    "column_losses",
    "dates",
    "distinctions",
    "intervals",
    "local_recoding",
    "masked",
    "microaggregate",
    "mondrian",
    "optimal",
    "ordered",
    "population_sizes",
    "population_uniques",
    "query_error",
    "read_arx_csv",
    "risks",
    "table_report",
    "taxonomy",
    "taxonomy_mondrian",
    "taxonomy_of_parents",
    "write_arx_csv",
]
