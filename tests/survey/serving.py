"""Surveys served by a real process, as ``discreet survey serve`` does it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from discreet.survey.questions_file import read_text
from discreet.survey.store import SurveyStore, fresh_token

QUESTIONS = """
title: Health at work
intro: Two minutes.
questions:
  smokes: {ask: Do you smoke?, type: yes-no, randomizer: coins}
  commute: {ask: How do you come to work?, type: choice, choices: [on foot, bicycle, train, car], epsilon: 1}
  sleep: {ask: How many hours did you sleep?, hint: Half hours are fine., type: number, lower: 0, upper: 12, epsilon: 2}
"""


@dataclass
class Made:
    """A survey on the disk, with the secrets that were handed out."""

    folder: Path
    owner: str
    tokens: list[str]

    def store(self) -> SurveyStore:
        return SurveyStore(self.folder)


def made(folder: Path, text: str = QUESTIONS, invitations: int = 20) -> Made:
    folder.mkdir(parents=True)
    owner, tokens = fresh_token(), [fresh_token() for _ in range(invitations)]
    SurveyStore.create(folder, read_text(text), owner, tokens).close()
    return Made(folder, owner, tokens)


class Serving:
    """A process that serves a folder, until it is ended."""

    def __init__(
        self, folder: Path, port: int = 0, *, program: str = "from discreet.cli.main import app; app()"
    ) -> None:
        command = [sys.executable, "-c", program, "survey", "serve", str(folder), "--port", str(port)]
        environment = os.environ | {"COLUMNS": "200"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline()
        if not self.first_line.startswith("serving"):
            raise AssertionError(f"it did not start: {self.first_line}{self.process.communicate()[1]}")
        self.address = self.first_line.split()[-1]
        self.port = int(self.address.rpartition(":")[2])

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=120)

    def end(self) -> tuple[str, str, int]:
        """End it as a service manager does; what it printed and its exit code."""
        self.process.terminate()
        out, err = self.process.communicate(timeout=120)
        return self.first_line + out, err, self.process.returncode
