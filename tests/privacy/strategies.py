"""Random losses, laws and priors for property tests."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated

ORDERS = (2, 4, 8, 64)

sizes = st.fractions(min_value=0, max_value=20, max_denominator=1000)
positive_sizes = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)
small_sizes = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 1000), max_denominator=10**9)
positive_deltas = st.integers(1, 30).flatmap(lambda k: st.just(Fraction(1, 10**k)))
counts = st.integers(1, 9)

pures = st.builds(Pure, sizes)
approximates = st.builds(Approximate, small_sizes, deltas)
concentrated = st.builds(ZeroConcentrated, sizes)
gaussians = st.builds(GaussianDP, sizes)
renyis = st.lists(sizes, min_size=len(ORDERS), max_size=len(ORDERS)).map(
    lambda found: Renyi(dict(zip(ORDERS, sorted(found), strict=True)))
)
kinds = [pures, approximates, concentrated, renyis, gaussians]


def of_one_kind(count: int) -> st.SearchStrategy[tuple[Loss, ...]]:
    """``count`` losses, all pure, or all approximate, and so on."""
    return st.one_of([st.tuples(*[kind] * count) for kind in kinds])  # type: ignore[list-item]


def laws(size: int) -> st.SearchStrategy[list[Fraction]]:
    """Probabilities of ``size`` outcomes, all positive, that sum to 1 exactly."""
    weights = st.lists(st.integers(1, 60), min_size=size, max_size=size)
    return weights.map(lambda w: [Fraction(x, sum(w)) for x in w])
