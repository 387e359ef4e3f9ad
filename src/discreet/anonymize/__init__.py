"""Publishing tables: check and enforce k-anonymity, l-diversity and t-closeness. None of it is differential privacy.

>>> from discreet.anonymize import KAnonymity, Roles, check
>>> roles = Roles.of(["zip", "disease"], quasi="zip", sensitive="disease")
"""

from discreet.anonymize.check import CheckReport, check
from discreet.anonymize.hierarchies.builders import (
    dates,
    masked,
    ordered,
    read_arx_csv,
    taxonomy,
    taxonomy_of_parents,
    write_arx_csv,
)
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.hierarchies.intervals import intervals
from discreet.anonymize.loss.query_error import column_histograms, query_error
from discreet.anonymize.loss.release_loss import Publication, class_losses, column_losses
from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode.local import local_recoding
from discreet.anonymize.recode.microaggregation import microaggregate
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.optimal import OptimalResult, optimal
from discreet.anonymize.recode.recoding import Recoded, Recoding
from discreet.anonymize.recode.taxonomy_mondrian import taxonomy_mondrian
from discreet.anonymize.report.report import TableReport, table_report
from discreet.anonymize.risk.population import population_sizes, population_uniques
from discreet.anonymize.risk.risk import distinctions, risks
from discreet.anonymize.roles import Role, Roles
from discreet.anonymize.table import CodedTable

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
