from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import discreet
from discreet.errors import InvalidValue
from discreet.noise.source import SYSTEM, ReplayableSource, ScriptedSource, SystemSource
from tests.noise.forks import shared_words
from tests.noise.generators import generators_in
from tests.noise.goodness import FALSE_ALARM, misfit

PACKAGE = Path(discreet.__file__).parent
ALLOWED = {
    "noise/source.py": ["urandom"],
    "noise/experiment.py": ["default_rng", "numpy.random"],  # no room with a promise may import it
}


def test_forked_children_share_no_word():
    """False alarm: a pair of 3e6 random words agrees with probability (3e6)² / 2^65 < 2.5e-7."""
    assert shared_words() == 0


def test_only_the_source_touches_a_generator():
    found = {path.relative_to(PACKAGE).as_posix(): generators_in(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert {path: generators for path, generators in found.items() if generators} == ALLOWED


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from secrets import token_bytes",
        "import numpy.random as r",
        "np.random.laplace(size=3)",
        "from numpy.random import default_rng",
        "from numpy import random",
        "os.urandom(8)",
        "from os import urandom",
        "law.rvs(3)",
        "import uuid",
    ],
)
def test_the_lint_sees_other_generators(code):
    assert generators_in(code)


def test_every_stream_has_its_own_key():
    streams = [SYSTEM.open().words(2).tobytes() for _ in range(1000)]
    assert len(set(streams)) == 1000


def test_streams_of_many_threads_differ():
    found: list[bytes] = []

    def draw() -> None:
        found.extend(SYSTEM.open().words(2).tobytes() for _ in range(200))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 800


@pytest.mark.parametrize("counts", [[1, 2, 3, 0, 5], [16385, 1], [40000], [1] * 33])
def test_a_stream_is_one_tape_however_it_is_cut(counts):
    tape = ReplayableSource(7).open().words(sum(counts))
    stream = ReplayableSource(7).open()
    assert np.concatenate([stream.words(count) for count in counts]).tolist() == tape.tolist()


def test_words_belong_to_the_caller():
    words = SYSTEM.open().words(5)
    words[:] = 0
    assert words.dtype == np.uint64
    assert not words.any()


def test_bits_are_fair():
    """False alarm: 64 exact binomial tails, 128 · 1e-9 < 1e-6 in all."""
    n = 200_000
    ones = [(SYSTEM.open().words(n) >> np.uint64(bit) & np.uint64(1)).sum() for bit in range(64)]
    low, high = binom.ppf(FALSE_ALARM, n, 0.5), binom.isf(FALSE_ALARM, n, 0.5)
    assert all(low <= count <= high for count in ones)


def test_bytes_are_uniform():
    """False alarm: `FALSE_ALARM`, by the bound in goodness.py."""
    counts = np.bincount(SYSTEM.open().words(100_000).view(np.uint8), minlength=256)
    assert misfit(counts, np.full(256, 1 / 256)) > FALSE_ALARM


def test_only_the_system_source_is_trusted():
    assert SYSTEM.trusted
    assert SystemSource().trusted
    assert not ReplayableSource(1).trusted
    assert not ScriptedSource([1]).trusted


def test_a_seed_replays_and_each_stream_of_it_differs():
    first, second = ReplayableSource("a"), ReplayableSource("a")
    assert first.open().words(3).tolist() == second.open().words(3).tolist()
    assert first.open().words(3).tolist() == second.open().words(3).tolist()
    assert first.open().words(3).tolist() != ReplayableSource("a").open().words(3).tolist()
    assert ReplayableSource("b").open().words(3).tolist() != ReplayableSource("a").open().words(3).tolist()


def test_a_script_is_read_once_and_ends():
    source = ScriptedSource([1, 2**64 - 1, 3])
    assert source.open().words(2).tolist() == [1, 2**64 - 1]
    assert source.open().words(1).tolist() == [3]
    with pytest.raises(InvalidValue, match="2 more words"):
        source.words(2)
