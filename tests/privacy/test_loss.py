"""Losses add, repeat, extend to groups, compare and convert, and never understate."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.errors import DiscreetError, InvalidInput, NoProvedPath, OutOfReach
from discreet.exact.ball import ball, lower, normal_cdf, upper, working_precision
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from tests.privacy.strategies import (
    approximates,
    concentrated,
    counts,
    gaussians,
    of_one_kind,
    positive_deltas,
    positive_sizes,
    pures,
    renyis,
    sizes,
    small_sizes,
)

LIGHT = settings(max_examples=40, deadline=None)

# The algebra.


@LIGHT
@given(of_one_kind(1), counts)
def test_k_times_once_equals_once_times_k(losses: tuple[Loss], k: int) -> None:
    (loss,) = losses
    assert sum([loss] * k) == k * loss == loss * k


@LIGHT
@given(of_one_kind(3))
def test_the_order_of_releases_does_not_matter(losses: tuple[Loss, Loss, Loss]) -> None:
    a, b, c = losses
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)


@LIGHT
@given(of_one_kind(1))
def test_nothing_costs_nothing(losses: tuple[Loss]) -> None:
    (loss,) = losses
    assert loss + Pure(0) == loss
    assert Pure(0) + loss == loss
    assert loss + 0 * loss == loss
    assert 0 * loss <= loss


@LIGHT
@given(of_one_kind(2), counts)
def test_repeating_distributes_over_adding(losses: tuple[Loss, Loss], k: int) -> None:
    a, b = losses
    assert k * (a + b) == k * a + k * b


@LIGHT
@given(of_one_kind(2))
def test_more_releases_never_cost_less(losses: tuple[Loss, Loss]) -> None:
    a, b = losses
    assert a <= a + b
    assert b <= a + b
    assert a <= a | b
    assert a | b <= a + b


def test_a_third_three_times_is_exactly_one() -> None:
    assert Pure("1/3") + Pure("1/3") + Pure("1/3") == Pure(1)


def test_a_million_times_a_millionth_is_exactly_one() -> None:
    assert 1_000_000 * Pure(1e-6) == Pure(1)
    assert sum([Pure(1e-6)] * 10_000) * 100 == Pure(1)


def test_gaussian_losses_add_as_squares_without_rounding() -> None:
    assert GaussianDP(3) + GaussianDP(4) == GaussianDP(5)
    assert 2 * GaussianDP(1) + 2 * GaussianDP(1) == GaussianDP(2)
    assert 2 < (2 * GaussianDP(1)).mu ** 2 < 2 + Fraction(1, 2**90)


# Groups.


@LIGHT
@given(of_one_kind(1))
def test_a_group_of_one_is_one_unit(losses: tuple[Loss]) -> None:
    assert losses[0].group(1) == losses[0]


@LIGHT
@given(st.one_of(pures, concentrated, gaussians), counts, counts)
def test_a_group_of_groups_is_a_larger_group(loss: Loss, k: int, m: int) -> None:
    assert loss.group(k).group(m) == loss.group(k * m)


@LIGHT
@given(st.one_of(pures, concentrated, gaussians), counts)
def test_larger_groups_lose_more(loss: Loss, k: int) -> None:
    assert loss.group(k) <= loss.group(k + 1)


def test_group_rules_are_those_of_the_theorems() -> None:
    assert Pure("0.5").group(3) == Pure("1.5")
    assert ZeroConcentrated("0.1").group(3) == ZeroConcentrated("0.9")
    assert GaussianDP("0.5").group(3) == GaussianDP("1.5")
    assert Renyi({8: 1, 32: 2}).group(4) == Renyi({2: 9, 8: 18})
    assert Renyi({8: 1, 32: 2}).group(3) == Renyi({2: 9, 8: 18})


@LIGHT
@given(small_sizes, st.fractions(min_value=0, max_value=Fraction(1, 10**12)), st.integers(2, 6))
def test_the_group_delta_covers_the_sum_of_its_steps(epsilon: Fraction, delta: Fraction, k: int) -> None:
    grown = Approximate(epsilon, delta).group(k)
    assert grown.epsilon == k * epsilon
    with working_precision(400):
        steps = lower(sum((ball(i * epsilon).exp() for i in range(k)), ball(0)) * ball(delta))
    assert steps <= grown.delta <= steps * Fraction(1000001, 1000000)


def test_group_losses_without_epsilon_or_delta_stay_rational() -> None:
    assert Approximate(0, "0.01").group(3) == Approximate(0, "0.03")
    assert Approximate(1, 0).group(3) == Approximate(3, 0)


def test_a_renyi_curve_without_a_high_order_says_what_a_group_needs() -> None:
    with pytest.raises(NoProvedPath, match="order of at least 8"):
        Renyi({4: 1}).group(4)


def test_a_group_whose_delta_would_reach_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match="below 1"):
        Approximate(1, "0.1").group(5)
    with pytest.raises(InvalidInput, match="below 1"):
        Approximate(2**90, 1e-6).group(2)  # e^(2^90) must not be written out


# Order.


@LIGHT
@given(of_one_kind(2))
def test_losses_of_one_kind_are_partly_ordered(losses: tuple[Loss, Loss]) -> None:
    a, b = losses
    assert a <= a
    assert not a < a
    assert (a <= b) == (b >= a)
    assert (a < b) == (b > a) == (a <= b and not b <= a)


def test_a_stricter_kind_compares_with_a_weaker_one() -> None:
    assert Pure(1) <= ZeroConcentrated("0.5")
    assert not Pure("1.01") <= ZeroConcentrated("0.5")
    assert ZeroConcentrated("0.5") >= Pure(1)
    assert Pure(1) < ZeroConcentrated(1)
    assert Pure(1) <= Approximate(1, 0) <= Pure(1)
    assert not Pure(1) < Approximate(1, 0)
    assert not Approximate(1, 0) < Pure(1)
    assert Pure(1) <= GaussianDP("1.2321")
    assert not Pure(1) <= GaussianDP("1.2320")
    assert GaussianDP(1) <= ZeroConcentrated("0.5")
    assert GaussianDP(1) <= Renyi({2: 1, 4: 2})
    assert Approximate("0.1", 0) <= Renyi({2: "0.01"})


def test_every_curve_compares_with_an_epsilon_and_delta() -> None:
    for loss in (ZeroConcentrated("0.05"), GaussianDP("0.3"), Renyi({2: "0.1", 20: "1"})):
        stated = loss.approximate(delta=1e-6)
        assert loss <= stated
        assert not loss <= Approximate(stated.epsilon * Fraction(9, 10), stated.delta)


@pytest.mark.parametrize(
    ("loss", "budget"),
    [
        (ZeroConcentrated("0.001"), Pure(10)),
        (GaussianDP("0.001"), Pure(10)),
        (Renyi({2: "0.001"}), Pure(10)),
        (Renyi({2: "0.001"}), ZeroConcentrated(10)),
        (ZeroConcentrated("0.001"), GaussianDP(10)),
        (Approximate("0.1", 1e-9), Pure(10)),
        (Approximate("0.1", 1e-9), ZeroConcentrated(10)),
    ],
)
@pytest.mark.parametrize("compare", ["__le__", "__lt__", "__ge__", "__gt__"])
def test_a_weaker_promise_never_fits_a_stricter_budget(loss: Loss, budget: Loss, compare: str) -> None:
    """No finite amount of the weaker kind proves the stricter one, however small the number on it."""
    first, second = (loss, budget) if compare in ("__le__", "__lt__") else (budget, loss)
    with pytest.raises(NoProvedPath):
        getattr(first, compare)(second)


def test_a_renyi_curve_fits_only_where_every_order_is_covered() -> None:
    assert Renyi({2: 1, 8: 3}) <= Renyi({2: 1})
    assert Renyi({8: 1}) <= Renyi({2: 1, 4: 1})  # divergences grow with the order
    assert not Renyi({2: 1}) <= Renyi({2: 1, 4: 100})
    assert not Renyi({2: 1}) <= Renyi({4: 100})


@LIGHT
@given(renyis, renyis, sizes, positive_deltas)
def test_a_smaller_renyi_curve_converts_to_a_smaller_loss(
    a: Renyi, b: Renyi, epsilon: Fraction, delta: Fraction
) -> None:
    both = a | b
    assert both.delta_at(epsilon) >= max(a.delta_at(epsilon), b.delta_at(epsilon))
    assert both.epsilon_at(delta) >= max(a.epsilon_at(delta), b.epsilon_at(delta))


# Mixing kinds.


def test_mixed_kinds_add_in_the_weaker_one() -> None:
    assert Pure(1) + Approximate(1, 1e-6) == Approximate(2, 1e-6)
    assert Pure(1) + ZeroConcentrated(1) == ZeroConcentrated("1.5")
    assert Pure(1) + Renyi({2: 1, 8: 1}) == Renyi({2: 2, 8: 2})
    assert Pure("0.1") + Renyi({2: 1}) == Renyi({2: "1.01"})
    assert GaussianDP(1) + ZeroConcentrated(1) == ZeroConcentrated("1.5")
    assert ZeroConcentrated("0.1") + Renyi({2: 1, 8: 1}) == Renyi({2: "1.2", 8: "1.8"})
    assert GaussianDP(1) + Renyi({2: 1}) == Renyi({2: 2})
    assert Approximate(1, 0) + Pure(1) == Pure(1) + Approximate(1, 0) == Approximate(2, 0)
    assert Pure(1) | ZeroConcentrated("0.1") == ZeroConcentrated("0.5")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Approximate(1, 1e-6), ZeroConcentrated(1)),
        (Approximate(1, 1e-6), GaussianDP(1)),
        (Approximate(1, 1e-6), Renyi({2: 1})),
        (Renyi({2: 1}), Renyi({3: 1})),
    ],
)
def test_unproved_mixes_are_refused(first: Loss, second: Loss) -> None:
    for mix in (lambda: first + second, lambda: second + first, lambda: first | second):
        with pytest.raises(NoProvedPath):
            mix()


def test_losses_do_not_mix_with_numbers() -> None:
    for wrong in (lambda: Pure(1) + 1, lambda: Pure(1) <= 1, lambda: Pure(1) < 1, lambda: 1 + Pure(1)):
        with pytest.raises(TypeError):
            wrong()
    for times in (0.5, "2", True, -1):
        with pytest.raises(InvalidInput):
            Pure(1) * times


# Conversions never understate.


def _pure_delta(epsilon: Fraction, wanted: Fraction) -> Any:
    return (ball(epsilon).exp() - ball(wanted).exp()) / (1 + ball(epsilon).exp())


@LIGHT
@given(positive_sizes, st.fractions(min_value=0, max_value=1, max_denominator=50))
def test_pure_delta_is_that_of_randomized_response_rounded_up(epsilon: Fraction, share: Fraction) -> None:
    wanted = share * epsilon
    with working_precision(400):
        exact = lower(_pure_delta(epsilon, wanted))
    assert exact <= Pure(epsilon).delta_at(wanted) <= exact + Fraction(1, 2**90)


@LIGHT
@given(positive_sizes, st.fractions(min_value=0, max_value=Fraction(49, 50), max_denominator=50))
def test_pure_epsilon_solves_the_same_curve_rounded_up(epsilon: Fraction, delta: Fraction) -> None:
    stated = Pure(epsilon).epsilon_at(delta)
    with working_precision(400):
        assert upper(_pure_delta(epsilon, stated)) <= delta or stated == epsilon
        rest = ball(epsilon).exp() - ball(delta) * (1 + ball(epsilon).exp())
        exact = max(lower(rest.log()), Fraction(0)) if rest > 1 else Fraction(0)
    assert exact <= stated <= exact + Fraction(1, 2**60)


def test_stating_a_loss_at_its_own_delta_changes_nothing() -> None:
    assert Pure(1).approximate(delta=0) == Approximate(1, 0)
    assert Approximate(1, 1e-6).approximate(delta=1e-6) == Approximate(1, 1e-6)
    assert repr(Pure(1).approximate(0)) == "Approximate(ε=1, δ=0)"


def test_a_delta_below_the_loss_own_is_out_of_reach() -> None:
    with pytest.raises(OutOfReach, match="at least 1e-06"):
        Approximate(1, 1e-6).epsilon_at(1e-7)


@LIGHT
@given(small_sizes, positive_deltas)
def test_zero_concentrated_conversion_is_never_worse_than_the_simple_one(rho: Fraction, delta: Fraction) -> None:
    simple = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
    assert float(ZeroConcentrated(rho).epsilon_at(delta)) <= simple


@pytest.mark.parametrize("rho", ["1e-60", "1e-30", "1e-9", 1, 1000, "1e12", "1e29"])
@pytest.mark.parametrize("delta", ["0.5", "1e-6", "1e-300", "1e-900"])
def test_extreme_zero_concentrated_losses_convert_well(rho: str, delta: str) -> None:
    with working_precision():
        simple = upper(ball(Fraction(rho)) + 2 * (ball(Fraction(rho)) * -ball(Fraction(delta)).log()).sqrt())
    assert 0 <= ZeroConcentrated(rho).epsilon_at(delta) <= simple + Fraction(1, 2**90)


@LIGHT
@given(small_sizes, positive_deltas)
def test_a_zero_concentrated_epsilon_keeps_its_delta(rho: Fraction, delta: Fraction) -> None:
    epsilon = ZeroConcentrated(rho).epsilon_at(delta)
    assert ZeroConcentrated(rho).delta_at(epsilon) <= delta * Fraction(1000001, 1000000)


@LIGHT
@given(small_sizes, positive_deltas)
def test_the_exact_gaussian_curve_lies_below_the_zero_concentrated_one(mu: Fraction, delta: Fraction) -> None:
    gaussian, weaker = GaussianDP(mu), ZeroConcentrated(mu**2 / 2)
    assert gaussian.epsilon_at(delta) <= weaker.epsilon_at(delta) + Fraction(1, 2**47)
    assert gaussian.delta_at(1) <= weaker.delta_at(1)


@LIGHT
@given(st.fractions(min_value=Fraction(1, 10), max_value=10), st.fractions(min_value=0, max_value=10))
def test_gaussian_delta_is_the_normal_formula_rounded_up(mu: Fraction, epsilon: Fraction) -> None:
    m, e = float(mu), float(epsilon)
    stated = GaussianDP(mu).delta_at(epsilon)
    assert math.isclose(float(stated), norm.cdf(m / 2 - e / m) - math.exp(e) * norm.cdf(-m / 2 - e / m), abs_tol=1e-13)
    with working_precision(1200):
        a, b = ball(mu / 2 - epsilon / mu), ball(-mu / 2 - epsilon / mu)
        assert lower(normal_cdf(a) - ball(epsilon).exp() * normal_cdf(b)) <= stated


@LIGHT
@given(st.fractions(min_value=Fraction(1, 100), max_value=10), positive_deltas)
def test_gaussian_epsilon_keeps_its_delta_and_is_the_least(mu: Fraction, delta: Fraction) -> None:
    loss = GaussianDP(mu)
    epsilon = loss.epsilon_at(delta)
    assert loss.delta_at(epsilon) <= delta
    assert epsilon == 0 or loss.delta_at(max(epsilon - Fraction(1, 2**47), Fraction(0))) > delta


@LIGHT
@given(positive_sizes)
def test_a_pure_loss_is_gaussian_where_the_trade_off_curves_meet(epsilon: Fraction) -> None:
    mu = (Pure(epsilon) + GaussianDP(0)).mu  # type: ignore[attr-defined]
    with working_precision(400):
        meeting = normal_cdf(-ball(mu) / 2) - 1 / (1 + ball(epsilon).exp())
        assert -Fraction(1, 2**90) <= lower(meeting) <= upper(meeting) <= 0


@pytest.mark.parametrize("epsilon", [0, "1e-30", 50, 500, 10**6, 2**99])
def test_any_pure_loss_has_a_gaussian_one(epsilon: Any) -> None:
    total = Pure(epsilon) + GaussianDP(0)
    assert isinstance(total, GaussianDP)
    assert float(total.mu) <= math.sqrt(8 * float(Fraction(epsilon))) * (1 + 1e-12)  # Φ(-√2ε) ≤ e^-ε / 2


@LIGHT
@given(small_sizes, positive_deltas)
def test_pure_through_zero_concentrated_to_delta_covers_the_pure_curve(epsilon: Fraction, delta: Fraction) -> None:
    """Randomized response, whose exact δ(ε) is known, is covered after two conversions."""
    through = Pure(epsilon) + ZeroConcentrated(0)
    wanted = through.epsilon_at(delta)
    with working_precision(400):
        assert upper(_pure_delta(epsilon, wanted)) <= delta or wanted >= epsilon
    half = epsilon / 2
    assert through.delta_at(half) >= Pure(epsilon).delta_at(half) - Fraction(1, 2**90)


@LIGHT
@given(st.one_of(approximates, concentrated, renyis, gaussians), positive_sizes)
def test_delta_falls_as_epsilon_grows(loss: Loss, epsilon: Fraction) -> None:
    assert loss.delta_at(epsilon) <= loss.delta_at(epsilon / 2)


@LIGHT
@given(st.one_of(concentrated, renyis, gaussians), st.integers(1, 20))
def test_epsilon_falls_as_delta_grows(loss: Loss, digits: int) -> None:
    slack = Fraction(1, 10**9)  # the search for the best order is as good as floating point
    assert loss.epsilon_at(Fraction(1, 10**digits)) + slack >= loss.epsilon_at(Fraction(2, 10**digits))


@pytest.mark.parametrize(
    "loss", [ZeroConcentrated("1e-20"), ZeroConcentrated(2**100), GaussianDP("1e-12"), GaussianDP(2**60), Renyi({2: 0})]
)
@pytest.mark.parametrize("epsilon", [0, 1, 10**6, 2**100])
def test_extreme_losses_state_a_delta_without_writing_out_huge_numbers(loss: Loss, epsilon: int) -> None:
    stated = loss.delta_at(epsilon)
    assert 0 < stated <= 1
    assert stated.denominator.bit_length() <= 401


def test_a_gaussian_loss_reaches_deltas_far_below_what_a_float_holds() -> None:
    assert 30 < GaussianDP(1).epsilon_at("1e-200") < 31
    assert GaussianDP(2000).epsilon_at(1e-6) > 2_000_000


@LIGHT
@given(st.one_of(concentrated, gaussians, renyis, pures), positive_deltas)
def test_a_loss_fits_the_budget_it_was_stated_as(loss: Loss, delta: Fraction) -> None:
    stated = loss.approximate(delta)
    assert isinstance(loss, Pure) or loss <= stated
    assert loss.delta_at(stated.epsilon) <= delta * Fraction(1000001, 1000000)


# Bad input.

NOT_A_SIZE = [-1, -1e-300, math.nan, math.inf, -math.inf, "1e400", "one", None, True, 1j, [1], Decimal("NaN"), "1/0"]


@pytest.mark.parametrize("bad", NOT_A_SIZE)
@pytest.mark.parametrize(
    "kind", [Pure, ZeroConcentrated, GaussianDP, lambda x: Approximate(x, 0), lambda x: Renyi({2: x})]
)
def test_refuses_sizes_that_mean_nothing(kind: Callable[[Any], Loss], bad: Any) -> None:
    with pytest.raises(InvalidInput):
        kind(bad)


@pytest.mark.parametrize("bad", [*NOT_A_SIZE, 1, "1.0", 2])
def test_refuses_deltas_that_mean_nothing(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        Approximate(1, bad)
    with pytest.raises(InvalidInput):
        ZeroConcentrated(1).epsilon_at(bad)


@pytest.mark.parametrize("loss", [ZeroConcentrated(1), Renyi({2: 1}), GaussianDP(1)])
def test_a_curve_needs_a_positive_delta(loss: Loss) -> None:
    with pytest.raises(InvalidInput, match="positive"):
        loss.approximate(delta=0)


@pytest.mark.parametrize("order", [1, 0, -2, "1", "0.99", math.nan, math.inf, None, True])
def test_refuses_orders_that_mean_nothing(order: Any) -> None:
    with pytest.raises(InvalidInput):
        Renyi({order: 1})


@pytest.mark.parametrize("curve", [{}, None, [(2, 1)], "2: 1"])
def test_refuses_curves_without_orders(curve: Any) -> None:
    with pytest.raises(InvalidInput):
        Renyi(curve)


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", None, True])
@pytest.mark.parametrize(
    "loss", [Pure(1), Approximate(1, 1e-6), ZeroConcentrated(1), Renyi({8: 1}), GaussianDP(1)], ids=repr
)
def test_refuses_groups_of_nobody(loss: Loss, size: Any) -> None:
    with pytest.raises(InvalidInput):
        loss.group(size)


def test_deltas_that_add_up_to_one_promise_nothing_and_are_refused() -> None:
    with pytest.raises(InvalidInput, match="below 1"):
        Approximate(1, 0.5) + Approximate(1, 0.5)
    with pytest.raises(InvalidInput, match="below 1"):
        10 * Approximate(1, 0.1)


def test_the_tiniest_loss_is_kept_and_never_becomes_zero() -> None:
    tiny = Pure(5e-324)
    assert tiny.epsilon == Fraction("5e-324") > 0
    assert repr(tiny) == "Pure(ε=5e-324)"
    assert Pure(0) < tiny


def test_every_refusal_is_one_of_ours() -> None:
    with pytest.raises(DiscreetError):
        Pure(2**101)


# Words.


def test_losses_print_themselves_in_plain_words() -> None:
    assert str(Pure("0.1")) == "ε = 0.1: one unit makes no outcome more than 1.1052 times likelier or less likely"
    assert "e^100" in str(Pure(100))
    assert str(Approximate(1, 0)) == str(Pure(1))
    assert str(Approximate(1, 1e-6)) == "ε = 1 but for a probability of δ = 1e-06"
    assert str(ZeroConcentrated("0.5")).startswith("ρ = 0.5: as private as Gaussian noise")
    assert str(Renyi({2: 1, 4: 2})) == "Rényi divergence at most 1 at order 2, 2 at order 4"
    assert str(Renyi(dict.fromkeys(range(2, 9), 1))).endswith("…")
    assert str(GaussianDP(1)).startswith("μ = 1: as hard as telling two bell curves apart")


def test_losses_print_as_code_for_engineers() -> None:
    assert repr(Pure("1/3")) == "Pure(ε=0.33334)"
    assert repr(Approximate(1, "1/3")) == "Approximate(ε=1, δ=0.33334)"
    assert repr(ZeroConcentrated(0)) == "ZeroConcentrated(ρ=0)"
    assert repr(Renyi({2: 1, 4: 2})) == "Renyi(2: 1, … 1 more)"
    assert repr(GaussianDP("0.25")) == "GaussianDP(μ=0.25)"


@pytest.mark.parametrize(
    "loss", [Pure(1), Approximate(1, 1e-6), ZeroConcentrated(1), Renyi({2: 1}), GaussianDP.of_squared(2)], ids=repr
)
def test_losses_are_values(loss: Loss) -> None:
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(copy.deepcopy(loss)) == hash(loss)
    with pytest.raises(AttributeError):
        loss.epsilon = 3  # type: ignore[attr-defined]


LOSSES = [Pure(1), Approximate(1, "1e-6"), ZeroConcentrated(1), Renyi({8: 1, 16: 2}), GaussianDP(1)]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_keeps_its_relation_through_the_calculus(loss: Loss) -> None:
    joined = loss.under("add-remove-one")
    for kept in (joined + joined, joined + loss, loss + joined, 3 * joined, joined | loss, joined.group(2)):
        assert kept.neighbours is Neighbours.ADD_REMOVE_ONE
    assert (loss + loss).neighbours is loss.neighbours is None
    assert joined.approximate(1e-3).neighbours is Neighbours.ADD_REMOVE_ONE
    assert joined != loss.under("replace-one")
    assert repr(joined).endswith(", add-remove-one)")
    with pytest.raises(InvalidInput):
        loss.under("next door")


@pytest.mark.parametrize("loss", LOSSES)
def test_replacing_costs_what_a_group_of_two_costs_and_says_nothing_about_joining(loss: Loss) -> None:
    joined, replaced = loss.under("add-remove-one"), loss.under("replace-one")
    assert joined.under("replace-one") == loss.group(2).under("replace-one")
    assert joined.under("add-remove-one") is joined
    with pytest.raises(NoProvedPath, match="different sizes"):
        replaced.under("add-remove-one")
    for mixed in (lambda: joined + replaced, lambda: joined | replaced):
        with pytest.raises(NoProvedPath, match="two relations"):
            mixed()
    assert joined <= loss.group(2).under("replace-one")
    assert joined <= loss <= replaced
    assert not joined <= replaced
    with pytest.raises(NoProvedPath):
        _ = replaced <= joined
    assert loss.under("add-remove-one") < (loss.group(2) + loss.group(2)).under("replace-one")
