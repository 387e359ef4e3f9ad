"""What a report about a table says: as a document for people, and as plain data for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from discreet.anonymize.check import CheckReport, size_words, strictest_words, verdict_words
from discreet.anonymize.equivalence_classes import size_shares
from discreet.anonymize.loss.release_loss import mean_loss
from discreet.anonymize.risk.risk import FOR_THE_OWNER, NOT_PRIVACY, Risks
from discreet.reports import document as doc
from discreet.reports.format import counted, figure, share
from discreet.reports.report import plain

if TYPE_CHECKING:
    from discreet.anonymize.report.report import ReleaseComparison, TableReport

__all__ = ["headline", "price_words", "report_data", "report_document", "verdict_words"]


_MOST_SETS = 10
_MOST_VALUES = 4
_FOOTER = "Made by Discreet. Questions and figures are the same whenever the report is made again."


def report_document(report: TableReport) -> doc.Document:
    """Everything a person should read before publishing."""
    found = report.comparison
    blocks: list[doc.DocumentBlock] = [
        doc.Alert(NOT_PRIVACY),
        doc.Quiet(FOR_THE_OWNER),
        doc.Headline(headline(report)),
        *([doc.Quiet(report.how)] if report.how else []),
        *_models(report),
        *_violating(report),
        _sizes(report),
        _risks(report),
        _columns(report),
        *([] if found is None else [*_losses(found), _histograms(found)]),
        _dangers(report),
        _price(report),
    ]
    return doc.Document(f"{report.name}: what publishing it tells", blocks, report.name, _FOOTER)


def _models(report: TableReport) -> list[doc.DocumentBlock]:
    checked = report.checked
    asked = [(_yes_or_no(one.holds), one.model.name, verdict_words(one)) for one in checked.verdicts]
    strictest = [(one.model, one.column or "", strictest_words(one)) for one in checked.measures]
    return [
        *([doc.Section("Models", [doc.TableBlock((), asked)])] if asked else []),
        doc.Section("The strictest that holds", [doc.TableBlock(("model", "column", "strictest"), strictest)]),
    ]


def _yes_or_no(holds: bool) -> doc.Toned:
    return doc.Toned("yes", "good") if holds else doc.Toned("no", "bad")


def _violating(report: TableReport) -> list[doc.DocumentBlock]:
    found = report.checked.violating()
    if not found:
        return []
    quasi, sensitive = report.checked.roles.quasi, report.checked.roles.sensitive
    rows = [
        (str(one.rows), *(one.values[name] for name in quasi), *(_values(one.sensitive[name]) for name in sensitive))
        for one in found
    ]
    title = f"Classes that break a model: the {len(found)} smallest"
    return [doc.Section(title, [doc.TableBlock(("rows", *quasi, *sensitive), rows)])]


def _values(counts: dict[str, int]) -> str:
    listed = [f"{value} {count}" for value, count in list(counts.items())[:_MOST_VALUES]]
    return ", ".join([*listed, "…"] if len(counts) > _MOST_VALUES else listed)


def _sizes(report: TableReport) -> doc.DocumentBlock:
    before = None if report.comparison is None else size_shares(report.comparison.sizes)
    words = "The share of rows in classes of each size. The fewer rows in small classes, the better."
    sizes = _shares("size", before, size_shares(report.checked.classes.sizes))
    return doc.Section("Class sizes", [doc.Quiet(words), sizes])


def _shares(name: str, before: Mapping[str, float] | None, after: Mapping[str, float]) -> doc.TableBlock:
    """Shares by name as bars and figures, beside those of the original where it is known."""
    if before is None:
        rows = [(name, doc.Meter(value), share(value)) for name, value in after.items()]
        return doc.TableBlock((name, "", "share"), rows, "llr")
    pairs = [
        (name, doc.PairedMeters(before[name], value), share(before[name]), share(value))
        for name, value in after.items()
    ]
    return doc.TableBlock((name, "", "before", "after"), pairs, "llrr")


def _risks(report: TableReport) -> doc.DocumentBlock:
    before = None if report.comparison is None else _named_risks(report.comparison.risks)
    words = (
        "A prosecutor knows that a person is in the table, a journalist does not, a marketer wants many people at "
        f"once. Rows with a risk above {share(report.risks.threshold)} are at risk. Averages are over rows."
    )
    unique = [doc.Paragraph(words) for words in _unique_words(report)]
    risks = _shares("risk", before, _named_risks(report.risks))
    return doc.Section("Who can be found", [doc.Quiet(words), risks, *unique])


def _named_risks(found: Risks) -> dict[str, float]:
    return {
        "prosecutor, highest": found.prosecutor.highest,
        "prosecutor, average": found.prosecutor.average,
        "rows at risk": found.prosecutor.at_risk,
        "journalist, highest": found.journalist.highest,
        "marketer": found.marketer,
        "unique rows": found.uniqueness,
    }


def _unique_words(report: TableReport) -> Iterator[str]:
    was = "" if report.comparison is None else f"; before, {report.comparison.risks.unique_rows:,}"
    yield f"{counted(report.risks.unique_rows, 'row is', 'rows are')} unique{was}."
    found = report.population
    if found is not None:
        unique = f"about {figure(found.estimate)} are unique ({share(found.share)}; an estimate from a model of the"
        yield f"Of {found.population:,} people {unique} population, not a bound)."


def _columns(report: TableReport) -> doc.DocumentBlock:
    rows = [
        (", ".join(one.columns), share(one.distinction), share(one.separation), share(one.uniqueness))
        for one in report.distinctions[:_MOST_SETS]
    ]
    sets = doc.TableBlock(("columns", "distinction", "separation", "unique"), rows, "lrrr")
    return doc.Section("What tells rows apart", [doc.Paragraph(_separating_words(report)), sets])


def _losses(found: ReleaseComparison) -> list[doc.DocumentBlock]:
    moved = {one.column: share(one.distance) for one in found.histograms}
    rows = [
        (one.column, doc.Meter(one.normalised), share(one.normalised), share(one.certainty_penalty), moved[one.column])
        for one in found.losses
    ]
    columns = doc.TableBlock(("column", "", "loss", "NCP", "histogram moved"), rows, "llrrr")
    return [doc.Section("What was lost", [columns, doc.TableBlock((), _loss_figures(found))])]


def _histograms(found: ReleaseComparison) -> doc.DocumentBlock:
    charts = [
        doc.ColumnChart(one.column, one.bars, one.before, one.after, f"moved by {share(one.distance)}")
        for one in found.histograms
    ]
    words = "What a reader of the release expects, each cell spread over the values that it may be."
    return doc.Section("Before and after", [doc.Gallery(words, charts)])


def _dangers(report: TableReport) -> doc.DocumentBlock:
    items = [doc.ListItem(one.name, one.words, one.column or "", one.share) for one in report.dangers]
    return doc.Section("What an attacker can still do", [doc.ItemList(items)])


def _price(report: TableReport) -> doc.DocumentBlock:
    sql, commands = doc.Code(report.price.sql), doc.Code("\n".join(report.price.commands))
    return doc.Section("The private alternative", [sql, doc.Paragraph(price_words(report)), commands])


def report_data(report: TableReport) -> dict[str, Any]:
    """Everything a report says."""
    found = {
        "warning": NOT_PRIVACY,
        "audience": FOR_THE_OWNER,
        "name": report.name,
        "how": report.how,
        "holds": report.checked.holds,
        "roles": asdict(report.checked.roles),
        "check": _check(report.checked),
        "risk": asdict(report.risks) | {"uniqueness": report.risks.uniqueness},
        "distinction": [asdict(one) for one in report.distinctions],
        "population": None
        if report.population is None
        else asdict(report.population) | {"estimate": report.population.estimate, "share": report.population.share},
        "attacks": [asdict(one) for one in report.dangers],
        "curator": asdict(report.price) | {"questions_for_epsilon_1": report.price.questions},
        "comparison": None if report.comparison is None else _comparison(report.comparison),
    }
    data: dict[str, Any] = plain(found)
    return data


def _check(checked: CheckReport) -> dict[str, Any]:
    return {
        "rows": checked.rows,
        "classes": checked.classes.count,
        "k": checked.k,
        "unique_rows": checked.unique_rows,
        "class_sizes": size_shares(checked.classes.sizes),
        "models": [
            {
                "model": one.model.name,
                "holds": one.holds,
                "violating_classes": one.violating_classes,
                "violating_rows": one.violating_rows,
                "parameter": one.model.parameter,
                "strictest": one.strictest,
            }
            for one in checked.verdicts
        ],
        "strictest": [asdict(one) for one in checked.measures],
        "contributions": [asdict(one) for one in checked.contributions],
        "violating": [asdict(one) for one in checked.violating()],
    }


def _comparison(found: ReleaseComparison) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "suppressed": found.suppressed,
        "class_sizes_before": size_shares(found.sizes),
        "risk_before": asdict(found.risks) | {"uniqueness": found.risks.uniqueness},
        "loss": {
            "normalised": mean_loss(found.losses, "normalised"),
            "global_certainty_penalty": mean_loss(found.losses, "certainty_penalty"),
            "precision": mean_loss(found.losses, "precision"),
            "non_uniform_entropy": mean_loss(found.losses, "entropy"),
            "columns": [asdict(one) for one in found.losses],
        },
        "classes": asdict(found.class_losses),
        "query_error": asdict(found.query_error),
        "histograms": [asdict(one) | {"distance": one.distance} for one in found.histograms],
    }


def headline(report: TableReport) -> str:
    """The table in a sentence."""
    words = size_words(report.checked)
    if report.comparison is None:
        return f"{words}."
    gone, rows = report.comparison.suppressed, report.comparison.rows
    return f"{words}; {gone:,} of {rows:,} rows were suppressed ({share(gone / rows)})."


def _separating_words(report: TableReport) -> str:
    """The quasi-identifier that tells most rows apart."""
    checked = report.checked
    if checked.unique_rows:
        first = checked.contributions[0]
        removed = counted(first.unique_rows_removed, "row is", "rows are")
        return f"{removed} unique because of {first.column}; without it, {first.unique_rows:,} would be."
    first = max(checked.contributions, key=lambda one: one.smallest_class)
    size = counted(first.smallest_class, "row", "rows")
    return f"No row is unique. Without {first.column} the smallest class would have {size}."


def _loss_figures(found: ReleaseComparison) -> list[tuple[str, str]]:
    """What was lost, each with its name."""
    classes, error = found.class_losses, found.query_error
    normalised, penalty = mean_loss(found.losses, "normalised"), mean_loss(found.losses, "certainty_penalty")
    precision, entropy = mean_loss(found.losses, "precision"), mean_loss(found.losses, "entropy")
    return [
        ("normalised loss", f"{normalised or 0:.6f}"),
        ("global certainty penalty (GCP)", f"{penalty or 0:.4f}"),
        ("non-uniform entropy lost", share(entropy or 0)),
        ("precision", "not all cells are groups of a hierarchy" if precision is None else f"{precision:.4f}"),
        ("discernibility", f"{classes.discernibility:,}"),
        ("average class size", f"{figure(classes.average_size)} rows"),
        ("average size over k (C_avg)", figure(classes.c_avg)),
        ("average size with suppressed rows as a class (AECS)", figure(classes.aecs)),
        ("ambiguity", f"{figure(classes.ambiguity)} combinations per row"),
        *((f"classification metric of {name}", f"{value:.4f}") for name, value in classes.classification.items()),
        (f"error of {error.queries} random counts, median", f"{figure(error.median_absolute)} rows"),
        ("… 95 % of them within", f"{figure(error.absolute_95)} rows"),
        ("… relative, median and mean", f"{share(error.median_relative)}, {share(error.mean_relative)}"),
    ]


def price_words(report: TableReport) -> str:
    """What the curator would take for the same question, in a sentence or two."""
    price = report.price
    rows = counted(price.within, "row", "rows")
    more = (
        ""
        if price.questions < 1
        else f" A budget of ε = 1 answers {counted(price.questions, 'such question', 'such questions')}."
    )
    who = "as the release does" if report.comparison is not None else "which is a hundredth of the table or 3"
    return (
        f"Through the curator this question costs ε = {price.epsilon:g} if 95 % of the answers shall be within {rows}, "
        f"{who}, and ε bounds what the answer tells about anybody, whatever an attacker knows.{more}"
    )
