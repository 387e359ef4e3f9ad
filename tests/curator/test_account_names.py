"""Names of accounts say whose they are and for which period, whatever tables, people and periods are called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.curator.charge import find_period, find_table, find_unit_account
from discreet.curator.ledger.account_names import AccountKind, join_name, split_name

ANY = st.text(alphabet="%/2F5a", max_size=5) | st.text(max_size=8)
Parts = tuple[str, str | None, str | None]
OWN = st.tuples(ANY.filter(bool), st.none() | ANY, st.none() | ANY)
PEOPLE = st.tuples(st.just(""), ANY, st.none() | ANY)


@given(OWN | PEOPLE, OWN | PEOPLE)
def test_no_two_accounts_share_a_name(one: Parts, two: Parts) -> None:
    assert (join_name(*one) == join_name(*two)) is (one == two)


@given(OWN | PEOPLE)
def test_a_name_is_read_as_it_was_made(parts: Parts) -> None:
    name = join_name(*parts)
    assert split_name(name) == parts
    assert (find_table(name), find_period(name)) == (parts[0], parts[2])
    kind = AccountKind.UNIT if not parts[0] else AccountKind.TABLE if parts[1] is None else AccountKind.ANALYST
    assert AccountKind.of(name) is kind


@given(ANY)
def test_people_are_called_as_before_periods(domain: str) -> None:
    escaped = domain.replace("%", "%25").replace("/", "%2F")
    assert find_unit_account(domain) == f"/{escaped}" or not domain
