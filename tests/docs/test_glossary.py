"""The glossary: one table in alphabetical order, in which every term that pages rely on can be found and linked to."""

from __future__ import annotations

import re

from tests.docs.installed import ROOT

PAGE = ROOT / "docs" / "reference" / "glossary.md"
ROW = re.compile(r'^\| <a id="([a-z0-9-]+)"></a>(.+?) \| (.+?) \| (.+?) \|$', re.MULTILINE)
TERMS = """
differential privacy; ε; δ; ρ; privacy unit; neighbouring relation; privacy budget; sensitivity; contribution
bound; clamping; partition selection; key selection; public partition; post-processing; confidence interval;
composition; privacy filter; privacy odometer; certificate; ledger; witness; checkpoint; fuse; suspension;
release quantum; rehearsal; equivalence class; quasi-identifier; k-anonymity; l-diversity; t-closeness;
recoding; generalization hierarchy; suppression; reconstruction; tracing; linkage; randomized response; local
model; shuffling; frequency oracle; group privacy; mechanism; unlisted group
"""


def _sorted_as(word: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", re.sub(r"[-_]", " ", word.lower()))


def test_words_stand_once_and_in_order() -> None:
    text = PAGE.read_text("utf-8")
    rows = ROW.findall(text)
    assert len(rows) == sum(line.startswith("| <a") for line in text.splitlines())
    words = [word for _, word, _, _ in rows]
    assert words == sorted(words, key=_sorted_as)
    assert len({anchor for anchor, *_ in rows}) == len(rows)


def test_every_term_that_pages_rely_on_is_there() -> None:
    named = " ".join(f"{word}; {term}" for _, word, term, _ in ROW.findall(PAGE.read_text("utf-8")))
    assert not [term for term in (" ".join(each.split()) for each in TERMS.split(";")) if term not in named]


def test_see_leads_to_a_row() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    words = " ".join(word for _, word, _, _ in rows)
    for meaning in (meaning for *_, meaning in rows):
        for target in re.findall(r"^See \*(.+?)\*", meaning):
            assert target in words


def test_the_readme_and_the_index_link_to_it() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "README.md"):
        assert "reference/glossary.md" in page.read_text("utf-8")
