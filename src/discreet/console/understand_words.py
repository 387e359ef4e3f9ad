"""One sentence below each chart about ε, with the chosen numbers in it."""

from __future__ import annotations

from discreet.console.understand_figures import Figures
from discreet.privacy.shown import shown
from discreet.understanding.rounding import number, share, times

__all__ = ["beliefs_words", "errors_words", "groups_words", "laws_words", "trade_off_words"]


def laws_words(found: Figures) -> str:
    """About the two laws."""
    factor = times(found.laws.factor)
    return (
        f"Without Alice the true count is {found.laws.without}, with her one more; the noise hides which it was. No "
        f"answer is more than {factor} times likelier, or less likely, with her than without her."
    )


def trade_off_words(found: Figures) -> str:
    """About the trade-off of two errors."""
    at_five = next(one for one in found.guessing.detections if one.false_alarms * 20 == 1)
    return (
        f"Whoever accuses no more than 5 of 100 people wrongly finds at most {share(at_five.caught, up=True)} of those "
        f"who took part. At even odds the best guess is right at most {share(found.guessing.accuracy, up=True)} of the "
        "time; a coin is right 50 %."
    )


def beliefs_words(found: Figures) -> str:
    """About beliefs before and after."""
    belief = found.belief
    before = share(belief.before, up=True)
    if found.believing.factor is None:
        return f"With a δ this large an answer may prove anything, also to somebody who thought {before} before."
    rarely = f", but for answers with a probability of at most {shown(found.believing.exception, 2)}"
    return (
        f"Somebody who knows every other record and thinks it {before} likely that Alice is in the data thinks it "
        f"{share(belief.low, up=False)} to {share(belief.high, up=True)} likely after any answer"
        f"{rarely if found.believing.exception else ''}."
    )


def groups_words(found: Figures) -> str:
    """About several people together."""
    one = found.group
    if one.size == 1:
        return (
            f"The promise is made to one person. Of ten people together the best guess is right up to "
            f"{share(next(each.accuracy for each in found.groups if each.size == 10), up=True)} of the time."
        )
    delta = f" and δ = {shown(one.delta, 2)}" if one.delta else ""
    return (
        f"{one.size:,} people together are promised ε = {shown(one.epsilon)}{delta}: the best guess whether they took "
        f"part is right at most {share(one.accuracy, up=True)} of the time."
    )


def errors_words(found: Figures) -> str:
    """About the price in accuracy."""
    count, mean, cells = found.errors
    people = "1 person" if found.given.n == 1 else f"{found.given.n:,} people"
    drowned = " The noise is as large as the table." if count.share >= 1 else ""
    return (
        f"In a table of {people}, 95 of 100 answers are within ±{number(count.within)} of a count "
        f"({number(100 * count.share)} % of everybody), ±{number(mean.within)} of a mean of values from 0 to 1, and "
        f"±{number(cells.within)} in all ten cells of a histogram.{drowned}"
    )
