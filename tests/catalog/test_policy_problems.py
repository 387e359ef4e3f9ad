"""A policy with something wrong is refused whole; each problem shows its line, its column, the rule and a remedy."""

from __future__ import annotations

import pickle

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.budget import Budget
from discreet.catalog.policy import yaml as yaml_tree
from discreet.catalog.policy.read import loads
from discreet.errors import DiscreetError, PolicyError, Problem
from tests.thoroughness import many

GOOD = """\
table: visits
description: one row per visit
unit: patient_id
neighbours: add-remove-one
budget: {epsilon: 3, delta: 1e-6}
rows_per_unit: 5
groups_per_unit: 3
analysts:
  ann: {epsilon: 1, delta: 1e-7}
  bob: all
foreign_keys:
- {column: order_id, table: orders, other_column: id}
columns:
  patient_id: {type: integer}
  order_id: {type: integer}
  ward: {type: text, keys: [cardiology, surgery]}
  age: {type: integer, lower: 0, upper: 110, default: 40}
  cost: {type: real, lower: 0, upper: 20000, nullable: true}
  born: {type: date, lower: 1900-01-01, upper: 2024-12-31}
"""


def problems(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(PolicyError) as refused:
        loads(text)
    return refused.value.problems


def changed(old: str, new: str) -> tuple[str, int, int]:
    """The good policy with one change, and the place of the change in it."""
    assert GOOD.count(old) == 1, old
    before = GOOD[: GOOD.index(old)].split("\n")
    return GOOD.replace(old, new), len(before), len(before[-1]) + 1


def without(field: str) -> str:
    """The good policy without one of its fields."""
    kept, is_gone = [], False
    for line in GOOD.splitlines(keepends=True):
        if not line.startswith((" ", "-")):
            is_gone = line.startswith(f"{field}:")
        kept.append("" if is_gone else line)
    return "".join(kept)


def test_the_good_policy_is_good() -> None:
    assert loads(GOOD).name == "visits"


# Values that break a rule: the text is changed, the marked place is where the new text starts -----------------------

BAD_VALUES = [
    ("visits\n", "_visits\n", "must not start with an underscore"),
    ("visits\n", "''\n", "must not be empty"),
    ("visits\n", "' visits'\n", "spaces around"),
    ("patient_id\n", "patient\n", "the unit must be one of the columns, got 'patient'; did you mean 'patient_id'?"),
    ("add-remove-one\n", "add-one\n", "neighbours must be 'replace-one' or 'add-remove-one', got 'add-one'"),
    ("3, ", "0, ", "epsilon must be positive, got '0'"),
    ("3, ", "-1, ", "epsilon must be positive, got '-1'"),
    ("3, ", "1e400, ", "epsilon must lie between 2^-100 and 2^100, got '1e400'"),
    ("3, ", "1e9999, ", "epsilon must lie between"),
    ("3, ", "5e-324, ", "epsilon must lie between"),
    ("3, ", ".nan, ", "epsilon must be a decimal or a fraction, got '.nan'"),
    ("3, ", ".inf, ", "epsilon must be a decimal or a fraction, got '.inf'"),
    ("3, ", "1_000, ", "epsilon must be a decimal or a fraction"),
    ("3, ", "1/0, ", "denominator other than 0"),
    ("3, ", "true, ", "epsilon must be a decimal or a fraction"),
    ("1e-6", "1", "delta must be below 1"),
    ("1e-6", "1.5", "delta must lie between 0 and 1"),
    ("1e-6", "-1e-6", "delta must lie between 0 and 1"),
    ("5\ngroups", "0\ngroups", "rows_per_unit must be at least 1"),
    ("5\ngroups", "2.5\ngroups", "rows_per_unit must be an integer, got '2.5'"),
    ("5\ngroups", "1e9\ngroups", "rows_per_unit must be at most 1048576"),
    ("3\nanalysts", "x\nanalysts", "groups_per_unit must be a decimal or a fraction"),
    ("all", "some", "bob must have fields of its own, got 'some'"),
    ("order_id, table", "order, table", "a foreign key must start at one of the columns, got 'order'; did you mean"),
    (
        "text,",
        "txt,",
        "type must be one of integer, real, text, boolean, date, timestamp, got 'txt'; did you mean 'text'?",
    ),
    ("surgery", "cardiology", "keys must differ, got 'cardiology'"),
    ("surgery", "[surgery]", "a key must be one value, got <a list>"),
    ("110", "-1", "lower must be below upper, got <0 and -1>"),
    ("110", "old", "upper must be a decimal or a fraction, got 'old'"),
    ("110", "1e400", "upper must lie between -2^63 and 2^63, got '1e400'"),
    ("110", "109.5", "upper must be an integer, got '109.5'"),
    ("40", "400", "default must lie within the bounds, got 400"),
    ("20000", "1e400", "a number that a column of reals can hold, got '1e400'"),
    ("20000", ".inf", "upper must be a decimal or a fraction, got '.inf'"),
    ("nullable: true", "nullable: maybe", "nullable must be true or false, got 'maybe'"),
    ("2024-12-31", "2024-02-30", "upper must be a date of the calendar, got '2024-02-30'"),
    ("2024-12-31", "31.12.2024", "upper must be a date, got '31.12.2024'; write 2024-12-31"),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD_VALUES, ids=lambda text: text.strip()[:20])
def test_a_value_that_breaks_a_rule_is_shown_in_its_place(old: str, new: str, said: str) -> None:
    text, line, column = changed(old, new)
    (problem,) = problems(text)
    assert said in str(problem)
    assert (problem.line, problem.column) == expected_place(problem, line, column, new)


def expected_place(problem: Problem, line: int, column: int, new: str) -> tuple[int, int]:
    """Where the changed value stands; a rule about a pair points at its first half."""
    if "lower must be below upper" in problem.rule:
        return line, GOOD.splitlines()[line - 1].index("lower: ") + len("lower: ") + 1
    return line, column + (new.index(": ") + 2 if ": " in new and not new.startswith("{") else 0)


# Fields that are missing, misspelt, blank or repeated ---------------------------------------------------------------


@pytest.mark.parametrize("field", ["table", "budget", "columns"])
def test_a_missing_field_is_named(field: str) -> None:
    (problem,) = problems(without(field))
    assert f"must have the field {field}" in str(problem)
    assert problem.line == 1


def test_a_missing_unit_is_named_when_no_foreign_key_leads_to_one() -> None:
    text = without("foreign_keys").replace("unit: patient_id\n", "")
    (problem,) = problems(text)
    assert "must have the field unit; name the column of the person, or say unit: row" in str(problem)


@pytest.mark.parametrize(
    "field", ["description", "neighbours", "rows_per_unit", "groups_per_unit", "analysts", "foreign_keys"]
)
def test_other_fields_may_be_missing(field: str) -> None:
    assert loads(without(field)).name == "visits"


@pytest.mark.parametrize("field", [line.split(":")[0] for line in GOOD.splitlines() if not line.startswith((" ", "-"))])
def test_a_misspelt_field_is_refused_with_the_field_it_resembles(field: str) -> None:
    misspelt = field + "s"
    text = "".join(
        row.replace(field, misspelt, 1) if row.startswith(f"{field}:") else row
        for row in GOOD.splitlines(keepends=True)
    )
    place = 1 + next(n for n, row in enumerate(GOOD.splitlines()) if row.startswith(f"{field}:"))
    found = [problem for problem in problems(text) if problem.value == misspelt]
    assert [(p.line, p.column, p.remedy) for p in found] == [(place, 1, f"did you mean '{field}'?")]


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "remedy"),
    [
        ("lower: 0, upper: 110", "lower: 0, uper: 110", 17, 34, "did you mean 'upper'?"),
        ("{epsilon: 3,", "{epsilon: 3, epsilom: 4,", 5, 22, "did you mean 'epsilon'?"),
        ("{epsilon: 1,", "{epsilon: 1, rows: 4,", 9, 21, "known: delta, delta_for_keys, epsilon"),
        ("other_column: id", "other_column: id, cascade: true", 12, 55, "known: column, other_column, table"),
    ],
)
def test_a_field_that_is_unknown_further_inside_is_refused(
    old: str, new: str, line: int, column: int, remedy: str
) -> None:
    found = [p for p in problems(GOOD.replace(old, new)) if "has no such field" in p.rule]
    assert [(p.line, p.column, p.remedy) for p in found] == [(line, column, remedy)]


@pytest.mark.parametrize("field", ["unit", "neighbours", "rows_per_unit", "groups_per_unit", "table", "description"])
@pytest.mark.parametrize("blank", ["", " ~", " null"])
def test_a_blank_field_must_be_filled_in(field: str, blank: str) -> None:
    line = next(n for n, text in enumerate(GOOD.splitlines(), start=1) if text.startswith(f"{field}:"))
    text = "\n".join(f"{field}:{blank}" if n == line else row for n, row in enumerate(GOOD.splitlines(), start=1))
    (problem,) = problems(text)
    assert problem.rule == f"{field} must be filled in"
    assert problem.line == line


@pytest.mark.parametrize("field", ["budget", "analysts", "columns", "foreign_keys"])
@pytest.mark.parametrize("value", ["", "5", "[1]", "{a: b}", "text"])
def test_a_field_of_the_wrong_shape_is_refused_on_its_line(field: str, value: str) -> None:
    if (field, value) == ("budget", "5"):
        value = "-5"  # a number alone is an epsilon
    text = without(field) + f"{field}: {value}\n"
    line = text.count("\n")
    found = problems(text)
    assert line in [problem.line for problem in found]
    assert all(problem.remedy or problem.value for problem in found)


@pytest.mark.parametrize("name", ["column", "table", "other_column"])
def test_a_foreign_key_has_three_fields(name: str) -> None:
    fields = {"column": "order_id", "table": "orders", "other_column": "id"}
    del fields[name]
    key = ", ".join(f"{field}: {value}" for field, value in fields.items())
    (problem,) = problems(GOOD.replace("{column: order_id, table: orders, other_column: id}", f"{{{key}}}"))
    assert (problem.line, problem.column) == (12, 3)
    assert f"a foreign key must have the field {name}" in str(problem)


def test_a_column_must_state_its_type() -> None:
    (problem,) = problems(GOOD.replace("ward: {type: text, ", "ward: {"))
    assert "the column ward must have the field type; state integer, real" in str(problem)
    assert (problem.line, problem.column) == (16, 3)


def test_a_column_without_facts_is_refused() -> None:
    (problem,) = problems(GOOD.replace("  order_id: {type: integer}", "  order_id: integer"))
    assert "order_id must have fields of its own, got 'integer'; write {type: integer}" in str(problem)


def test_a_number_alone_is_the_epsilon_of_a_budget_and_of_a_cap() -> None:
    text = "table: t\nunit: row\nbudget: 3\nanalysts: {ann: 1/2}\ncolumns:\n  x: {type: integer}\n"
    table = loads(text)
    assert (table.budget, table.analysts) == (Budget(3), {"ann": Budget("1/2")})


def test_a_budget_must_state_its_epsilon() -> None:
    (problem,) = problems(GOOD.replace("{epsilon: 3, delta: 1e-6}", "{delta: 1e-6}"))
    assert (problem.line, problem.rule) == (5, "a budget must have the field epsilon")


def test_a_name_given_twice_is_refused_with_both_lines() -> None:
    (problem,) = problems(GOOD + "  ward: {type: integer}\n")
    assert (problem.line, problem.column) == (20, 3)
    assert "a name must be given once, got 'ward'; it is given on line 16 already" in str(problem)


def test_columns_that_differ_by_case_alone_are_refused() -> None:
    found = problems(GOOD + "  WARD: {type: integer}\n")
    assert [(p.line, p.column) for p in found] == [(16, 3), (20, 3)]


# Contradictions -----------------------------------------------------------------------------------------------------

CONTRADICTIONS = [
    ("table: visits", "table: [visits]", 1, "table must be one value, got <a list>"),
    ("epsilon: 3", "epsilon: [3]", 5, "epsilon must be one value, got <a list>"),
    ("type: text", "type: {a: b}", 16, "type must be one value, got <fields>"),
    (
        "ward: {type: text,",
        "ward: {type: text, lower: a, upper: b,",
        16,
        "only numbers, dates and timestamps have bounds",
    ),
    ("ward: {type: text,", "ward: {type: text, default: icu,", 16, "default must be one of the keys, got 'icu'"),
    ("[cardiology, surgery]", "[]", 16, "keys must be a list of at least one value"),
    ("[cardiology, surgery]", "cardiology", 16, "keys must be a list, got 'cardiology'; write [one, two]"),
    ("lower: 0, upper: 110", "lower: 0", 17, "bounds must be a pair, got <lower alone>"),
    ("lower: 0, upper: 110", "upper: 110", 17, "bounds must be a pair, got <upper alone>"),
    ("upper: 110,", "upper: 110, keys: [40, 120],", 17, "keys must lie within the bounds, got 120"),
    ("default: 40", "default: 40, nullable: false", 17, "only a column that may miss values has a default"),
    (
        "patient_id: {type: integer",
        "patient_id: {type: integer, lower: 0, upper: 9",
        14,
        "the unit column names people",
    ),
    ("patient_id: {type: integer", "patient_id: {type: integer, default: 9", 14, "the unit column names people"),
    ("ann: {epsilon: 1,", "ann: {epsilon: 4,", 9, "the cap of ann must be within the table's budget"),
    ("delta: 1e-7", "delta: 1e-5", 9, "the cap of ann must be within the table's budget"),
    (", delta: 1e-7", "", 9, "the cap of ann must be within the table's budget, and pure when it is pure"),
    ("delta: 1e-6}", "delta: 1e-6, delta_for_keys: 2e-6}", 5, "delta_for_keys must be a part of delta"),
    ("description: one row per visit", "public: perhaps", 2, "public must be true or false, got 'perhaps'"),
    ("unit: patient_id", "unit: {column: patient_id, each: row}", 3, "unit must be {column: NAME} or {each: row}"),
    ("unit: patient_id", "unit: [patient_id]", 3, "unit must be one value, got <a list>"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), CONTRADICTIONS, ids=lambda text: str(text)[:24])
def test_a_policy_that_contradicts_itself_is_refused(old: str, new: str, line: int, said: str) -> None:
    assert GOOD.count(old) == 1
    (problem,) = problems(GOOD.replace(old, new))
    assert said in str(problem)
    assert problem.line == line


def test_a_public_table_states_nothing_that_a_protected_one_does() -> None:
    found = problems(GOOD.replace("description: one row per visit", "public: true"))
    assert [p.line for p in found] == [3, 4, 5, 6, 7, 8]
    assert all("a public table has no" in p.rule for p in found)


def test_each_row_a_unit_has_one_row_per_unit() -> None:
    (problem,) = problems(without("foreign_keys").replace("unit: patient_id", "unit: row"))
    assert (problem.line, problem.column) == (6, 16)
    assert "every row is a person of its own, so rows_per_unit must be 1, got 5" in str(problem)


@pytest.mark.parametrize(("kind", "why"), [("unit: row", "a person of its own"), ("public: true", "protects nobody")])
def test_where_nobody_has_several_rows_few_of_them_cannot_count(kind: str, why: str) -> None:
    budget = "budget: {epsilon: 1}\n" * kind.startswith("unit")
    (problem,) = problems(f"table: t\n{kind}\n{budget}columns:\n  ward: {{type: text, rows_per_key: 1}}\n")
    assert f"{why}, so ward has no rows_per_key, got 1; drop it" in str(problem)


def test_the_word_row_is_ambiguous_beside_a_column_of_that_name() -> None:
    (problem,) = problems(without("foreign_keys").replace("unit: patient_id", "unit: row").replace("ward:", "Row:"))
    assert "write {column: row} or {each: row}" in str(problem)


# All at once ----------------------------------------------------------------------------------------------------------


def test_every_problem_is_reported_at_once_in_the_order_of_the_file() -> None:
    text = (
        GOOD.replace("patient_id\n", "nobody\n")
        .replace("epsilon: 3", "epsilon: -3")
        .replace("rows_per_unit: 5", "rows_per_unit: many")
        .replace("bob: all", "bob: &x all")
        .replace("table: orders, ", "")
        .replace("type: text", "type: txt")
        .replace("default: 40", "default: forty, colour: blue")
        .replace("upper: 20000", "upper: -20000")
        .replace("1900-01-01", "long ago")
    )
    assert [p.line for p in problems(text)] == [3, 5, 6, 10, 12, 16, 17, 17, 18, 19]


def test_one_wrong_half_of_a_pair_is_one_problem() -> None:
    assert len(problems(GOOD.replace("upper: 110", "upper: x"))) == 1


def test_a_budget_that_cannot_be_read_is_not_held_against_the_analysts() -> None:
    assert len(problems(GOOD.replace("epsilon: 3", "epsilon: x"))) == 1


def test_several_problems_print_one_per_line() -> None:
    with pytest.raises(PolicyError) as refused:
        loads(GOOD.replace("epsilon: 3", "epsilon: 0").replace("110", "x"))
    assert str(refused.value).splitlines() == [
        "2 problems:",
        "- line 5, column 19: epsilon must be positive, got '0'",
        "- line 17, column 41: age: upper must be a decimal or a fraction, got 'x'; write '0.5' or '1/2'",
    ]


def test_a_refusal_survives_the_way_to_another_process() -> None:
    with pytest.raises(PolicyError) as refused:
        loads(GOOD.replace("epsilon: 3", "epsilon: 0").replace("110", "x"))
    copy = pickle.loads(pickle.dumps(refused.value))
    assert copy.problems == refused.value.problems
    assert str(copy) == str(refused.value)


# Files that are not policies ------------------------------------------------------------------------------------------

FORMS = [
    (b"", 1, 1, "a policy must be a list of fields"),
    (b"\n\n# nothing\n", 1, 1, "a policy must be a list of fields"),
    (b"visits", 1, 1, "a policy must be a list of fields"),
    (b"- visits\n", 1, 1, "a policy must be a list of fields"),
    (b"\x89PNG\r\n\x1a\n\x00", 1, 1, "text in UTF-8"),
    (b"table: x\nunit: \xff\n", 2, 7, "text in UTF-8"),
    (b"\xef\xbb\xbftable: x\r\nunit: \xff\n", 2, 7, "text in UTF-8"),
    ("table: visits\n".encode("utf-16"), 1, 1, "text in UTF-8"),
    ("table: Zürich\nunit: \x07\n".encode(), 2, 7, "control characters"),
    (b"table: x\x00\n", 1, 9, "control characters"),
    (b"table: x\ncolumns:\n\tage: {type: integer}\n", 3, 1, "indent with spaces, not tabs"),
    (b"table: x\nunit: a: b\n", 2, 8, "a policy must be valid YAML"),
    (b"table: 'x\n", None, None, "a policy must be valid YAML"),
    (b"table: {a: [1, 2}\n", 1, 17, "a policy must be valid YAML"),
    (b"table: @x\n", 1, 8, "put quotes around words"),
    (b"table: x\n---\ntable: y\n", 2, 1, "one table"),
    (b"%YAML 1.1\n---\ntable: x\n", 1, 1, "directives"),
    (b"table: &a x\n", 1, 8, "anchors or aliases"),
    (b"table: !!str x\n", 1, 8, "tags"),
    (b"table: !!python/object/apply:os.system [ls]\n", 1, 8, "tags"),
    (b"? [table]\n: x\n", 1, 3, "a field's name must be a word"),
    (b"table: " + b"[" * 100_000, 1, 15, "nested at most 8 deep"),
    (b"table: " + b"{a: " * 50_000, 1, 36, "nested at most 8 deep"),
    (b"- " * 50_000, 1, 17, "nested at most 8 deep"),
    (b"# " + b"x" * 2**20, 1, 1, "at most 1 MiB"),
]


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader], ids=["C", "Python"])
@pytest.mark.parametrize(("content", "line", "column", "said"), FORMS, ids=lambda part: repr(part)[:30])
def test_a_file_that_is_no_policy_is_refused_at_the_place_where_it_goes_wrong(
    content: bytes, line: int, column: int, said: str, loader: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_tree, "_LOADER", loader)
    (problem,) = [p for p in problems(content) if said in str(p)]
    assert line is None or (problem.line, problem.column) == (line, column)


def test_a_bomb_of_aliases_is_refused_without_being_unfolded() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 40))
    found = problems(f"l0: &l0 x\n{levels}\n")
    assert sum("anchors or aliases" in p.rule for p in found) == 40 + 39 * 9


@given(st.binary(max_size=200))
@settings(max_examples=many(50, 200), deadline=None)
def test_no_bytes_raise_anything_but_a_refusal(content: bytes) -> None:
    with pytest.raises(DiscreetError):
        loads(content)


@given(st.data())
@settings(max_examples=many(50, 200), deadline=None)
def test_a_damaged_policy_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(GOOD)))
    length = data.draw(st.integers(0, 12))
    middle = data.draw(st.text(st.sampled_from("{}[]:,-#&*!|>'\"%@`?~ \n\tab01.é"), max_size=6))
    found: tuple[Problem, ...] = ()
    try:
        loads(GOOD[:place] + middle + GOOD[place + length :])
    except PolicyError as refused:
        found = refused.problems
    assert all(problem.line and problem.column for problem in found)
