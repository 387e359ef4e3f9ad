"""What to write instead of a function that is not answered, by the name that the analyst gave it.

Dialects have hundreds of functions. Those that people try get a sentence of their own here, and SQL that works: x and
y stand for numbers, note for a text, day for a date, flag for a condition, and … for FROM and what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.query.parse.places import find_place, refuse

__all__ = ["INSTEAD", "USAGE", "Instead", "called", "is_clock", "not_answered", "suggest_alternative"]


@dataclass(frozen=True)
class Instead:
    """What works in place of a function."""

    sql: str = ""
    """An expression, or a whole query where it starts with SELECT."""
    rule: str = ""
    """Why the function is refused, where more can be said than that it is not answered."""
    advice: str = ""
    """What would work, where no SQL does."""

    @property
    def remedy(self) -> str:
        """The advice, or to write the SQL."""
        return self.advice or f"write {self.sql}"


_OF_ROWS = "{} shows values of single rows"
_CLOCK = Instead(
    "DATE '2020-12-31'", "the clock cannot be asked: an answer must mean the same tomorrow, so name the day with as_of"
)
_CHANCE = Instead(rule="chance cannot be asked: the same question has the same answer", advice="leave it out")
_COUNTED = Instead("SELECT x, COUNT(*) … GROUP BY x", _OF_ROWS)
_SHOWN = Instead("MEDIAN(x)", _OF_ROWS)
_FORMATTED = Instead("strftime(day, '%Y-%m')")
_FROM_SECONDS = Instead("TIMESTAMP '1970-01-01 00:00:00' + INTERVAL (x) SECOND")
_ON_GROUPS = Instead(
    "SELECT x, COUNT(*), RANK() OVER (ORDER BY COUNT(*)) … GROUP BY x",
    "{} is answered above the aggregates, with OVER, not on single rows",
)
_DIFFERENT = Instead("COUNT(DISTINCT x)")
_PATTERN = Instead("note LIKE 'a%'")
_SEVERAL = Instead(
    "SELECT x, COUNT(*) … GROUP BY x UNION ALL SELECT NULL, COUNT(*) …",
    "{} asks several questions at once",
)
_AS_DATE = "CAST(note AS DATE)"
_COVARIANCE = "AVG(x * y) - AVG(x) * AVG(y)"

_NAMED: tuple[tuple[str, Instead], ...] = (
    ("NOW GETDATE GETUTCDATE SYSDATE SYSDATETIME SYSUTCDATETIME SYSTIMESTAMP TODAY CURDATE CURTIME TIMEOFDAY", _CLOCK),
    ("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_DATETIME LOCALTIME LOCALTIMESTAMP UTC_DATE UTC_TIME", _CLOCK),
    ("UTC_TIMESTAMP TRANSACTION_TIMESTAMP STATEMENT_TIMESTAMP CLOCK_TIMESTAMP GET_CURRENT_TIMESTAMP", _CLOCK),
    ("RANDOM RAND RANDN UUID UUID_STRING GEN_RANDOM_UUID GENERATE_UUID NEWID SETSEED RANDOMBLOB", _CHANCE),
    ("STRING_AGG GROUP_CONCAT LISTAGG ARRAY_AGG LIST COLLECT_LIST COLLECT_SET ARRAY_CONCAT_AGG JSON_AGG", _COUNTED),
    ("OBJECT_AGG JSON_GROUP_ARRAY JSON_OBJECT_AGG MAP_AGG HISTOGRAM APPROX_TOP_K APPROX_TOP_COUNT TOPK", _COUNTED),
    ("ENTROPY BIT_AND BIT_OR BIT_XOR", _COUNTED),
    ("FIRST LAST ANY_VALUE ARBITRARY ARG_MAX ARG_MIN ARGMAX ARGMIN MAX_BY MIN_BY", _SHOWN),
    ("APPROX_COUNT_DISTINCT APPROX_DISTINCT APPROX_UNIQUE COUNT_DISTINCT UNIQ UNIQEXACT HLL NDV", _DIFFERENT),
    ("BOOL_AND LOGICAL_AND EVERY BOOLAND_AGG", Instead("COUNT_IF(NOT flag)")),
    ("BOOL_OR LOGICAL_OR BOOLOR_AGG", Instead("COUNT_IF(flag)")),
    ("SUM_IF SUMIF", Instead("SUM(x) FILTER (WHERE flag)")),
    ("AVG_IF AVGIF", Instead("AVG(x) FILTER (WHERE flag)")),
    ("STD", Instead("STDDEV_SAMP(x)", "STD is the spread of a sample in some dialects and of everybody in others")),
    ("MAD", Instead("STDDEV_SAMP(x)")),
    ("SEM", Instead("STDDEV_SAMP(x) / SQRT(COUNT(*))")),
    ("COVAR_POP COVAR_SAMP COVARIANCE COVAR", Instead(_COVARIANCE)),
    ("CORR CORRELATION", Instead(f"({_COVARIANCE}) / (STDDEV_POP(x) * STDDEV_POP(y))")),
    ("REGR_SLOPE", Instead(f"({_COVARIANCE}) / VAR_POP(x)")),
    ("REGR_INTERCEPT REGR_R2 REGR_COUNT REGR_AVGX REGR_AVGY REGR_SXX REGR_SXY REGR_SYY", Instead("AVG(x * y)")),
    ("PRODUCT", Instead("EXP(SUM(CLAMP(LN(x), 0, 5)))")),
    ("GEOMEAN GEOMETRIC_MEAN", Instead("EXP(AVG(CLAMP(LN(x), 0, 5)))")),
    ("SKEWNESS SKEW", Instead("AVG(x * x * x)")),
    ("KURTOSIS KURTOSIS_POP", Instead("AVG(x * x * x * x)")),
    ("FSUM KAHAN_SUM SUMKAHAN TOTAL", Instead("SUM(x)")),
    ("COUNT_BIG", Instead("COUNT(*)")),
    ("FAVG", Instead("AVG(x)")),
    ("APPROX_QUANTILES", Instead("APPROX_QUANTILE(x, 0.5)")),
    ("ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE", _ON_GROUPS),
    ("ROLLUP CUBE GROUPING GROUPING_ID", _SEVERAL),
    ("TO_CHAR DATE_FORMAT FORMAT FORMAT_DATETIME TO_VARCHAR TO_NCHAR", _FORMATTED),
    ("TO_TIMESTAMP FROM_UNIXTIME TIMESTAMP_SECONDS TIMESTAMP_MILLIS EPOCH_MS MAKE_TIMESTAMP", _FROM_SECONDS),
    (
        "UNIX_TIMESTAMP UNIX_SECONDS UNIX_MILLIS TO_UNIX_TIMESTAMP UNIX_DATE JULIANDAY",
        Instead("EXTRACT(epoch FROM day)"),
    ),
    ("STRPTIME TRY_STRPTIME STR_TO_DATE PARSE_DATE PARSE_TIMESTAMP TRY_TO_DATE DATE_PARSE", Instead(_AS_DATE)),
    ("AGE MONTHS_BETWEEN PERIOD_DIFF DATEDIFF_BIG", Instead("date_diff('month', DATE '2020-01-31', day)")),
    ("TIME_BUCKET DATE_BUCKET DATE_BIN TUMBLE TOSTARTOFMONTH", Instead("date_trunc('month', day)")),
    ("YEARWEEK", Instead("EXTRACT(yearweek FROM day)")),
    ("ISOYEAR", Instead("EXTRACT(isoyear FROM day)")),
    ("DECADE", Instead("EXTRACT(decade FROM day)")),
    ("CENTURY ERA MILLENNIUM", Instead("EXTRACT(century FROM day)")),
    ("MILLISECOND MICROSECOND NANOSECOND", Instead("EXTRACT(second FROM day)")),
    ("NEXT_DAY DATE_FROM_UNIX_DATE", Instead("day + INTERVAL 7 DAY")),
    ("CONVERT_TIMEZONE FROM_UTC_TIMESTAMP TO_UTC_TIMESTAMP TIMEZONE", Instead("day + INTERVAL 2 HOUR")),
    ("WIDTH_BUCKET RANGE_BUCKET BUCKET", Instead("FLOOR(x / 10)")),
    ("DECODE CHOOSE", Instead("CASE WHEN x = 1 THEN 'one' ELSE 'other' END")),
    ("CONVERT TRY_CONVERT TO_NUMBER TYPEOF", Instead("CAST(note AS DOUBLE)")),
    ("ISNUMERIC ISDATE", Instead("TRY_CAST(note AS DOUBLE) IS NOT NULL")),
    ("TRY", Instead("x / y")),
    ("MOD", Instead("x % 2")),
    ("DIV INT_DIV", Instead("x // 2")),
    ("BITWISE_AND BITAND GET_BIT BIT_COUNT", Instead("x % 2")),
    ("SOUNDEX LEVENSHTEIN EDITDIST3 EDIT_DISTANCE JARO_SIMILARITY JARO_WINKLER_SIMILARITY DIFFERENCE", _PATTERN),
    ("REGEXP_EXTRACT REGEXP_SUBSTR REGEXP_REPLACE REGEXP_COUNT", Instead("regexp_matches(note, '^a')")),
    ("SPLIT_PART SPLIT SUBSTRING_INDEX STRING_SPLIT STR_SPLIT STRTOK", Instead("contains(note, 'a')")),
    ("LPAD RPAD REPEAT SPACE INITCAP TRANSLATE OVERLAY STUFF", Instead("note = 'a'")),
    ("MD5 SHA SHA1 SHA2 SHA256 SHA512 HASH FARM_FINGERPRINT HEX UNHEX BASE64 TO_BASE64", Instead("note = 'a'")),
    ("ASCII CHR UNICODE ORD", Instead("LEFT(note, 1)")),
    ("JSON_EXTRACT JSON_VALUE JSON_EXTRACT_SCALAR JSON_QUERY GET_JSON_OBJECT", Instead("contains(note, 'a')")),
    ("ANY SOME ALL", Instead("x IN (1, 2)")),
)
INSTEAD: dict[str, Instead] = {name: instead for names, instead in _NAMED for name in names.split()}
"""By name in capital letters, what works in place of a function."""

_MOVED = "day + INTERVAL 30 DAY"
_PERCENTILE = "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)"
_USED: tuple[tuple[str, str], ...] = (
    ("DATE_DIFF DATEDIFF DATETIME_DIFF TIMESTAMPDIFF TIMESTAMP_DIFF", "date_diff('day', DATE '2020-01-31', day)"),
    ("DATESUB DATE_SUB", "date_sub('day', DATE '2020-01-31', day)"),
    ("DATE_ADD DATEADD DATETIME_ADD TIMESTAMPADD TIMESTAMP_ADD DATETIME_SUB TIMESTAMP_SUB ADD_MONTHS", _MOVED),
    ("DATE_TRUNC DATETRUNC DATETIME_TRUNC TIMESTAMP_TRUNC", "date_trunc('month', day)"),
    ("DATE_PART DATEPART EXTRACT", "EXTRACT(year FROM day)"),
    ("MAKE_DATE DATE_FROM_PARTS DATEFROMPARTS DATE", "make_date(2020, 12, 31)"),
    ("WEEKDAY EOMONTH LAST_DAY", "LAST_DAY(day)"),
    ("TO_DATE", _AS_DATE),
    ("FORMAT_DATE FORMAT_TIMESTAMP STRFTIME", "strftime(day, '%Y-%m')"),
    ("ISNULL COALESCE NVL ZEROIFNULL", "COALESCE(x, 0)"),
    ("TRUNC", "TRUNC(x)"),
    ("CLAMP", "CLAMP(x, 0, 100)"),
    ("REGEXP_CONTAINS REGEXP_MATCHES REGEXP_LIKE", "regexp_matches(note, '^a')"),
    ("PERCENTILE PERCENTILE_APPROX APPROX_PERCENTILE PERCENTILE_CONT PERCENTILE_DISC", _PERCENTILE),
    ("QUANTILE QUANTILE_CONT QUANTILE_DISC APPROX_QUANTILE", "QUANTILE_CONT(x, 0.5)"),
    ("MEAN AVG", "AVG(x)"),
    ("VAR VARP", "VAR_POP(x)"),
    ("STDEVP", "STDDEV_POP(x)"),
    ("YEAR QUARTER MONTH WEEK WEEKOFYEAR DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR HOUR MINUTE SECOND", "YEAR(day)"),
    ("CONCAT CONCAT_WS", "note || 'a'"),
    ("LEFT RIGHT SUBSTRING SUBSTR", "substring(note, 1, 3)"),
    ("LOWER UPPER TRIM LENGTH LEN", "LOWER(note)"),
    ("SQRT LN LOG EXP ABS ROUND FLOOR CEIL SIGN POWER POW", "ROUND(x, 2)"),
)
USAGE: dict[str, str] = {name: sql for names, sql in _USED for name in names.split()}
"""By name in capital letters, how a function that is answered is written."""

_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:\(|$)")
_TWO_WORDS = re.compile(r"(GROUPING SETS|WITH ROLLUP|WITH CUBE)\b", re.IGNORECASE)


def called(node: exp.Expr) -> str:
    """The function that the analyst wrote, in capital letters; nothing where it is an operator or something else."""
    place = find_place(node)
    if place is None or isinstance(node, exp.Binary):
        return ""
    found = _TWO_WORDS.match(place.words) or _NAME.match(place.words)
    return "" if found is None else found[1].upper()


def is_clock(name: str) -> bool:
    """Whether a name stands for the present moment in some dialect."""
    return INSTEAD.get(name.upper()) is _CLOCK


def suggest_alternative(node: exp.Expr) -> str:
    """How a function is written that was given too few arguments, or others than it takes."""
    name = called(node)
    return f"write {USAGE.get(name, f'{name}(x)')}" if name else "give it what it needs"


def not_answered(node: exp.Expr, where: str, answered: Collection[type[exp.Expr]]) -> QueryRefused:
    """The refusal of a function, operator or clause; others are ``answered`` ``where`` it stands."""
    name = called(node)
    if name in USAGE and isinstance(node, exp.Anonymous):
        return refuse(node, f"{name} cannot be read with these arguments", suggest_alternative(node))
    found = INSTEAD.get(name) or _BY_KIND.get(type(node)) or (_SEVERAL if " " in name else None)
    if found is not None:
        rule = found.rule or "{} is not answered " + where
        return refuse(node, rule.format(name or "this"), found.remedy)
    names = [known for known, kind in exp.FUNCTION_BY_NAME.items() if kind in answered]
    close = get_close_matches(name, names, n=1, cutoff=0.8)
    remedy = f"did you mean {close[0]}?" if close else "use one of the functions in the manual's page about SQL"
    return refuse(node, f"{name or 'this'} is not answered {where}", remedy)


_BY_KIND: dict[type[exp.Expr], Instead] = {
    exp.Tuple: Instead("x = 1 AND y = 2", "values are compared one by one"),
    exp.Bracket: Instead("substring(note, 1, 1)"),
    exp.Placeholder: Instead("x > 3", "a placeholder has no value here"),
    exp.Parameter: Instead("x > 3", "a placeholder has no value here"),
    exp.Interval: Instead("day + INTERVAL 30 DAY", "a length of time is added to a date"),
    exp.JSONExtract: Instead("contains(note, 'a')"),
    exp.JSONExtractScalar: Instead("contains(note, 'a')"),
    exp.Any: Instead("x IN (1, 2)"),
    exp.All: Instead("x IN (1, 2)"),
    exp.Glob: _PATTERN,
    exp.SimilarTo: Instead("regexp_matches(note, '^a')", "SIMILAR TO means different things in different dialects"),
    exp.Escape: Instead("contains(note, '%')", "LIKE is answered without ESCAPE"),
    exp.Window: Instead(_ON_GROUPS.sql, "windows over single rows are not answered"),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot), Instead("x % 2")),
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift), Instead("x * 2")),
}
"""What works in place of operators and clauses, which have no name."""
