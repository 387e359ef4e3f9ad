"""What all tests of a process share.

One browser: two of them would not share its event loop. A quiet collector: so many tests are collected that looking
through them for garbage, again and again, would take a sixth of the time. And the signals of somebody who sits at a
terminal, whoever starts the tests.
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.thoroughness import IS_THOROUGH, many, some

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

gc.disable()
settings.register_profile("as many as there is time for", max_examples=many(40, 100), deadline=None)
settings.load_profile("as many as there is time for")

LONGEST = (
    "tests/console/",
    "tests/engines/test_spark",
    "tests/fuzz/",
    "tests/soak/",
    "tests/service/test_quantum",
    "tests/engines/test_postgres",
    "tests/curator/test_unanswered",
    "tests/curator/test_audit",
    "tests/curator/test_seam",
    "tests/query/test_soundness",
    "tests/query/test_intervals_above",
    "tests/survey/test_page",
)
"""What takes longest begins first, so that at the end nobody waits for it."""
TOGETHER = [
    re.compile(r"tests/console/"),  # one browser, one served hospital, and scripts that the browser keeps
    re.compile(r"tests/engines/test_spark_(?:servers|java)"),
    re.compile(r"tests/engines/test_(?:spark|same_plans)|tests/curator/test_seam\.py.*\[spark"),  # one Java
    re.compile(r"tests/engines/test_postgres"),  # one corpus of plans
    re.compile(r"tests/fuzz/test_fuzz_neighbours\.py.*\[(\d+)"),  # parts, side by side
]
"""Tests that match the same way go to one process, wherever they are written; others go there with their file."""

# What runs in the background (``nohup make test &``) ignores or blocks what ends it, and so would all that it starts.
signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _signal in (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, signal.SIG_DFL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Two more than there are cores, because some always wait: for Java, a browser, or one who was killed."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else len(os.sched_getaffinity(0)) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """A file goes to one process, so that what its tests share is built once; files keep the order of collection.

    Groups are told by names: with pytest 9.2, the mark of xdist no longer reaches the process that distributes.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # it would count tests, not seconds

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByFile(config, log)


def group_of(test: str) -> str:
    """What goes to the same process as this test has the same."""
    found = next(filter(None, (pattern.match(test) for pattern in TOGETHER)), None)
    return f"{found.re.pattern} {found.groups()}" if found else test.partition("::")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first; what repeats the evidence of quicker tests is left to ``make test-all``."""
    items.sort(key=lambda item: _place(item.nodeid))  # stable
    kept = set(_few(items))
    left = [item for item in items if item not in kept]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item in kept]


def _few(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests that are not thorough alone; of one that takes some of its cases, those; of those in turns, one."""
    turns: dict[str, dict[str, int]] = defaultdict(dict)
    for _, cases in itertools.groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        found = list(cases)
        most = found[0].get_closest_marker("some")
        for item in some(found, *most.args) if most else found:
            if IS_THOROUGH or not (item.get_closest_marker("thorough") or _is_out_of_turn(item, turns)):
                yield item


def _is_out_of_turn(item: pytest.Item, turns: dict[str, dict[str, int]]) -> bool:
    """Whether it is another's turn of those who take turns from test to test of a file."""
    found = item.get_closest_marker("in_turns")
    if found is None:
        return False
    (place, of), (file, _, test) = found.args, item.nodeid.partition("[")[0].partition("::")
    return bool(turns[file].setdefault(test, len(turns[file])) % of != place)


def _place(test: str) -> int:
    return next((place for place, start in enumerate(LONGEST) if test.startswith(start)), len(LONGEST))


def pytest_collection_finish() -> None:
    """Tests stay to the end, so they are looked through once; from now on garbage is looked for as always."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """At the end, what was frozen is garbage too; libraries in C complain of what is left."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from tests.survey.browser import launched  # most tests need none

    with launched() as found:
        yield found
