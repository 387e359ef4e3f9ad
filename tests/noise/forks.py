"""Two forked children draw a million words each (R4). Runs in a process of its own, so that the fork is a real one."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import os, sys, tempfile
import numpy as np
from discreet.noise.source import SYSTEM, ReplayableSource
source = {source}
source.open().words(3)
files = [tempfile.TemporaryFile() for _ in range(2)]
for file in files:
    if os.fork() == 0:
        file.write(source.open().words(10**6).tobytes())
        file.flush()
        os._exit(0)
    os.wait()
children = [np.frombuffer(os.pread(file.fileno(), 8 * 10**6, 0), np.uint64) for file in files]
assert [len(child) for child in children] == [10**6, 10**6]
words = np.concatenate([*children, source.open().words(10**6)])
print(len(words) - len(np.unique(words)))
"""


def shared_words(source: str = "SYSTEM") -> int:
    """How many of three million words, from two children and their parent, were seen before."""
    command = [sys.executable, "-W", "ignore", "-c", _SCRIPT.format(source=source)]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
