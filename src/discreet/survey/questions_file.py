"""Questions files: a survey in YAML, read whole; a refusal lists everything that is wrong, with lines.

>>> survey = read_text('''
... title: One question
... epsilon: 1
... questions:
...   smokes: {ask: Do you smoke?, type: yes-no}
... ''')
>>> survey.questions[0].randomizer
BinaryResponse(Pure(ε=1, replace-one), 2 categories)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.catalog.policy.fields import Fields, scalar_text
from discreet.catalog.policy.yaml import LARGEST_FILE, FilePosition, Mapping, find_position, parse_yaml
from discreet.catalog.problems import Complaints
from discreet.errors import InvalidValue, PolicyError, Problem
from discreet.exact.rational import positive, rational
from discreet.local.randomized_response import BinaryResponse
from discreet.local.randomizer import Randomizer
from discreet.survey.survey import NO_AND_YES, TYPES, Question, Survey, best_oracle, mean, oracle

__all__ = ["EXAMPLE", "LARGEST_EPSILON", "read_file", "read_text"]


EXAMPLE = Path(__file__).with_name("example.yaml").read_text(encoding="utf-8")
"""A questions file to start from."""

LARGEST_EPSILON = 20
"""A report with more than this is as good as the truth: it lies once in half a billion times."""

_TOP = ("title", "intro", "epsilon", "questions")
_OF_QUESTION = ("ask", "hint", "type", "choices", "lower", "upper", "epsilon", "randomizer")
_FORM = "{ask: Do you smoke?, type: yes-no}"
_BY_HAND = {"coins": BinaryResponse.coins, "die": BinaryResponse.die}
_FINEST = 1000
_MOST_CHOICES = 200  # nobody reads more, and a report stays short

Chosen = Callable[[Fraction], Randomizer[Any]]
"""A randomizer that waits for its ε."""


@dataclass(frozen=True)
class _Draft:
    """A question before it is known what it costs."""

    fields: Fields
    name: str
    type: str
    epsilon: Fraction | None
    """What the file states, or what the coins or the die cost."""
    chosen: Chosen

    def question(self, epsilon: Fraction) -> Question | None:
        words = self.fields.text("ask") or "", self.fields.text("hint") or ""
        checked = self.fields.found.checked
        return checked(
            self.fields.path, lambda: Question(self.name, words[0], self.type, self.chosen(epsilon), words[1])
        )


def read_file(path: Path) -> Survey:
    """The survey that a questions file describes."""
    with path.open("rb") as file:
        return read_text(file.read(LARGEST_FILE + 1), path.name)


def read_text(content: bytes | str, file: str = "") -> Survey:
    """The survey that a text describes; a refusal lists every problem with its line and column."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    try:
        tree = parse_yaml(raw)
    except PolicyError as refused:
        raise PolicyError(_placed(problem, Mapping(FilePosition(1, 1)), file) for problem in refused.problems) from None
    found = Complaints()
    survey = _survey(Fields(tree.root, (), found))
    problems = [*tree.problems, *found.problems]
    if survey is None or problems:
        placed = [_placed(problem, tree.root, file) for problem in problems]
        raise PolicyError(sorted(placed, key=lambda problem: (problem.line, problem.column)))
    return survey


def _placed(problem: Problem, root: Mapping, file: str) -> Problem:
    """With its file and line, and about a survey: the reader of YAML speaks of policies."""
    rule = problem.rule.replace("policy file", "questions file").replace("a policy", "a survey")
    remedy = problem.remedy.replace("'table: NAME'", "'title: WORDS'")
    place = find_position(root, problem.path)
    line, column = (place.line, place.column) if problem.line is None else (problem.line, problem.column)
    return replace(problem, rule=rule, remedy=remedy, file=file, line=line, column=column)


def _survey(top: Fields) -> Survey | None:
    top.refuse_unknown(_TOP, "a survey")
    top.require("title", "a survey", "start with 'title: WORDS'")
    title, intro = top.text("title") or "", top.text("intro") or ""
    total = top.read("epsilon", _epsilon)
    drafts = _drafts(top)
    if top.found.problems:
        return None
    shares = top.found.checked(("epsilon",), _shares, total, [draft.epsilon for draft in drafts])
    if shares is None:
        return None
    questions = [draft.question(share) for draft, share in zip(drafts, shares, strict=True)]
    if top.found.problems:
        return None
    made = tuple(question for question in questions if question is not None)
    return top.found.checked((), lambda: Survey(title, made, intro))


def _epsilon(text: str, label: str) -> Fraction:
    return positive(text, label)


def _shares(total: Fraction | None, stated: list[Fraction | None]) -> list[Fraction]:
    """What each question costs: what it states, or an even share of what the others leave of the total."""
    open_ones = stated.count(None)
    if open_ones and total is None:
        rule, remedy = "every question must have an epsilon", "state one for all of them together, at the top"
        raise InvalidValue(rule, f"<{open_ones} without>", remedy)
    spent = sum((one for one in stated if one is not None), Fraction(0))
    left = (total or spent) - spent
    if left < 0 or (open_ones and left <= 0):
        rule = "the questions must not cost more than epsilon together"
        raise InvalidValue(rule, f"{float(spent):.4g} of {float(total or 0):.4g}", "raise epsilon, or lower theirs")
    share = _rounded_down(left / max(open_ones, 1))
    return [_affordable(share if one is None else one) for one in stated]


def _rounded_down(share: Fraction) -> Fraction:
    """To thousandths, where there are any, so that the page shows short numbers."""
    return Fraction(math.floor(share * _FINEST), _FINEST) or share


def _affordable(epsilon: Fraction) -> Fraction:
    if epsilon > LARGEST_EPSILON:
        remedy = "0.5 to 4 is usual"
        raise InvalidValue(f"the epsilon of a question must be at most {LARGEST_EPSILON}", float(epsilon), remedy)
    return epsilon


# Questions --------------------------------------------------------------------------------------------------------


def _drafts(top: Fields) -> list[_Draft]:
    if not top.require("questions", "a survey", f"list them by name, such as 'smokes: {_FORM}'"):
        return []
    listed = top.mapping("questions", f"names and their facts, such as 'smokes: {_FORM}'")
    if listed is None:
        return []
    drafts = [_draft(name, listed.mapping(name, _FORM)) for name in listed.node.entries]
    return [draft for draft in drafts if draft is not None]


def _draft(name: str, fields: Fields | None) -> _Draft | None:
    if fields is None:
        return None
    fields.refuse_unknown(_OF_QUESTION, "a question")
    there = [fields.require(field, f"the question {name}", f"write {_FORM}") for field in ("ask", "type")]
    kind = fields.read("type", _type)
    if not all(there) or kind is None:
        return None
    _refuse_strangers(fields, kind)
    chosen = {"yes-no": _yes_no, "choice": _choice, "number": _number}[kind](fields)
    return None if chosen is None else _Draft(fields, name, kind, _stated(fields), chosen)


def _type(text: str, _: str) -> str:
    if text not in TYPES:
        raise InvalidValue(f"type must be one of {', '.join(TYPES)}", text)
    return text


def _refuse_strangers(fields: Fields, kind: str) -> None:
    """Refuse what belongs to another type of question."""
    owners = {"choices": "choice", "lower": "number", "upper": "number"}
    for field, owner in owners.items():
        if field in fields and kind != owner:
            fields.found.say((*fields.path, field), f"a question of type {kind} has no {field}", None, "drop it")


def _stated(fields: Fields) -> Fraction | None:
    by_hand = _BY_HAND.get(fields.text("randomizer") or "") if "randomizer" in fields else None
    if by_hand is None:
        return fields.read("epsilon", _epsilon)
    if "epsilon" in fields:
        rule, remedy = "coins and dice have an epsilon of their own", "drop one of the two"
        fields.found.say((*fields.path, "epsilon"), rule, fields.text("epsilon"), remedy)
    return by_hand().loss.epsilon


def _yes_no(fields: Fields) -> Chosen | None:
    named = fields.text("randomizer")
    if named in _BY_HAND:
        by_hand = _BY_HAND[named]
        return lambda _: by_hand(NO_AND_YES)
    return lambda epsilon: _oracle(named, epsilon, NO_AND_YES)


def _choice(fields: Fields) -> Chosen | None:
    if not fields.require("choices", "a choice", "write [one, two, neither]"):
        return None
    items = fields.sequence("choices", "[one, two, neither]")
    if items is None:
        return None
    path = (*fields.path, "choices")
    texts = [scalar_text(item, (*path, place), "a choice", fields.found) for place, item in enumerate(items)]
    choices = [text for text in texts if text is not None]
    if not all(choice.strip() for choice in choices):
        fields.found.say(path, "a choice must have words", "<blank>", "people must see what they choose")
    if len(choices) > _MOST_CHOICES:
        fields.found.say(path, f"a question must have at most {_MOST_CHOICES} choices", len(choices), "group them")
    return lambda epsilon: _oracle(fields.text("randomizer"), epsilon, choices)


def _oracle(named: str | None, epsilon: Fraction, categories: tuple[str, ...] | list[str]) -> Randomizer[Any]:
    return best_oracle(epsilon, categories) if named is None else oracle(named, epsilon, categories)


def _number(fields: Fields) -> Chosen | None:
    there = [fields.require(field, "a number", "state lower and upper") for field in ("lower", "upper")]
    lower, upper = (fields.read(field, rational) for field in ("lower", "upper"))
    if not all(there) or lower is None or upper is None:
        return None
    low, high = lower, upper
    return lambda epsilon: mean(fields.text("randomizer") or "hybrid", epsilon, low, high)
