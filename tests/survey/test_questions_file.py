"""Questions files: what they mean, and everything that is wrong with them at once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import InvalidInput, PolicyError
from discreet.local.randomized_response import BinaryResponse
from discreet.survey.questions_file import EXAMPLE, read_file, read_text
from discreet.survey.survey import Survey

ONE = "title: T\nepsilon: 1\nquestions:\n  q: {ask: Q, type: yes-no}\n"


def with_question(facts: str, top: str = "epsilon: 1") -> str:
    return f"title: T\n{top}\nquestions:\n  q: {{ask: Q, {facts}}}\n"


def test_the_example_is_a_survey_that_costs_what_it_says() -> None:
    survey = read_text(EXAMPLE)
    assert [question.type for question in survey.questions] == ["yes-no", "choice", "number"]
    assert survey.epsilon <= 4
    coins = BinaryResponse.coins().loss.epsilon
    assert survey.questions[0].randomizer.loss.epsilon == coins
    assert survey.questions[1].randomizer.loss.epsilon == Fraction(int((4 - coins) / 2 * 1000), 1000)


def test_a_survey_survives_the_store() -> None:
    survey = read_text(EXAMPLE)
    again = Survey.from_json(survey.to_json())
    assert again.to_json() == survey.to_json()
    assert again.fingerprint == survey.fingerprint


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ("type: yes-no", "rr"),
        ("type: yes-no, randomizer: coins", "rr"),
        ("type: yes-no, randomizer: die", "rr"),
        ("type: choice, choices: [a, b]", "rr"),
        ("type: choice, choices: [a, b, c]", "grr"),
        ("type: choice, choices: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "subset"),
        ("type: choice, choices: [a, b, c], randomizer: oue", "oue"),
        ("type: choice, choices: [a, b, c], randomizer: hadamard", "hadamard"),
        ("type: number, lower: -1, upper: 2.5", "hybrid"),
        ("type: number, lower: 0, upper: 1, randomizer: duchi", "duchi"),
    ],
)
def test_the_best_randomizer_is_chosen_unless_one_is_named(facts: str, kind: str) -> None:
    assert read_text(with_question(facts, "epsilon: 1.2")).questions[0].randomizer.kind == kind


def test_words_stay_words() -> None:
    survey = read_text(with_question("type: choice, choices: [no, 007, 'null', 1.0]"))
    assert survey.questions[0].terms.domain == ("no", "007", "null", "1.0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "start with 'title: WORDS'"),
        ("title: [", "a survey must be valid YAML"),
        ("title: T\nquestions: {}\n", "must have 1 to 100 questions"),
        ("title: T\n", "a survey must have the field questions"),
        (ONE + "colour: red\n", "a survey has no such field, got 'colour'"),
        (ONE.replace("epsilon: 1", ""), "every question must have an epsilon"),
        (ONE.replace("epsilon: 1", "epsilon: 0"), "epsilon must be positive"),
        (ONE.replace("epsilon: 1", "epsilon: much"), "epsilon"),
        (ONE.replace("epsilon: 1", "epsilon: 21"), "must be at most 20"),
        (ONE.replace("  q:", "  9q:"), "the name of a question must be a word"),
        (ONE.replace("ask: Q", "ask: ' '"), "a question must ask something"),
        (with_question("type: choice, choices: [a, ' ', b]"), "a choice must have words"),
        (with_question("type: maybe"), "type must be one of yes-no, choice, number"),
        (with_question("type: choice"), "a choice must have the field choices"),
        (with_question("type: choice, choices: [a]"), "categories"),
        (with_question("type: choice, choices: [a, a]"), "categories must differ"),
        (with_question(f"type: choice, choices: {[*range(201)]}"), "at most 200 choices"),
        (with_question("type: choice, choices: [a, b, c], randomizer: olh"), "must be one of rr, grr"),
        (with_question("type: number, lower: 1, upper: 1"), "lower must be below upper"),
        (with_question("type: number, lower: 1"), "a number must have the field upper"),
        (with_question("type: number, lower: 0, upper: 1, choices: [a]"), "a question of type number has no choices"),
        (with_question("type: yes-no, randomizer: coins, epsilon: 1"), "coins and dice have an epsilon of their own"),
        (with_question("type: yes-no, randomizer: coins"), "must not cost more than epsilon together"),
        (with_question("type: yes-no, epsilon: 2"), "must not cost more than epsilon together"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as refused:
        read_text(text, "questions.yaml")
    assert said in str(refused.value)
    assert "questions.yaml, line" in str(refused.value)


def test_all_problems_are_listed_at_once() -> None:
    with pytest.raises(PolicyError) as refused:
        read_text("titel: T\nquestions:\n  a: {ask: A, type: x}\n  b: {type: yes-no}\n")
    assert len(refused.value.problems) == 4


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="UTF-8"):
        read_file(file)
