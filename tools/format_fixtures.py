"""Write fixtures of the formats as a release makes them: run it with the code of that release on the path.

    git worktree add /some/where RELEASE
    PYTHONPATH=/some/where/src:. python tools/format_fixtures.py NAME

writes tests/fixtures/formats/NAME.tar.xz: a served curator's folder with answers and a token that was revoked, the
folder of a survey, what PostgreSQL dumps of the same books, and what is known of all of it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from tests.servers.postgres import PostgresServer, binaries

from discreet.catalog.budget import Budget
from discreet.curator.curator import Curator
from discreet.curator.hospital import visits, visits_policy
from discreet.curator.verification import verify
from discreet.service import asking
from discreet.service.house import House
from discreet.service.members import Members
from discreet.service.moving import move
from discreet.service.role import Role
from discreet.service.settings import Settings
from discreet.service.store import Store
from discreet.service.visitor import Visitor
from discreet.service.wish import Wish
from discreet.survey.questions_file import read_text
from discreet.survey.store import Store as SurveyStore

TARGET = Path(__file__).parents[1] / "tests" / "fixtures" / "formats"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
QUESTIONS = {"one": "SELECT COUNT(*) AS n FROM visits", "two": "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward"}
SURVEY = "title: A survey\nepsilon: 1\nquestions:\n  smokes: {ask: Do you smoke?, type: yes-no}\n"


def made_curator(folder: Path) -> dict[str, Any]:
    curator = Curator(folder)
    curator.protect(visits(60, 30), visits_policy({"ana": Budget(1)}))
    curator.ledger.close()
    members = Members(Store(folder), hasher=CHEAP)
    for name, role in {"owner": Role.OWNER, "ana": Role.ANALYST}.items():
        members.add(name, role)
    tokens = {name: members.issue(name, days=3650) for name in ("owner", "ana")}
    tokens["revoked"] = members.issue("ana", days=3650)
    members.revoke(tokens["revoked"].split("_")[1])
    house = House(Settings(folder=folder))
    ana = Visitor("ana", Role.ANALYST, "token")
    kept = {name: asking.ask(house, ana, Wish(sql, "0.1"), name).arrow for name, sql in QUESTIONS.items()}
    house.close()
    house.store.close()
    house.curator.ledger.close()
    found = verify(folder)
    facts = {"tokens": tokens, "records": found.entries, "head": found.head.hex(), "questions": QUESTIONS}
    return facts | {"answers": {name: hashlib.sha256(arrow).hexdigest() for name, arrow in kept.items()}}


def made_survey(folder: Path) -> dict[str, Any]:
    folder.mkdir()
    tokens = [f"{number:032x}" for number in range(1, 4)]
    store = SurveyStore.create(folder, read_text(SURVEY), f"{9:032x}", tokens)
    for token in tokens[:2]:
        store.take(token, b"\x01")
    store.forget_order()
    store.close()
    return {"invited": 3, "answered": 2}


def dumped(folder: Path, target: Path) -> None:
    """The books of a folder as a server dumps them; the folder names that server afterwards."""
    server = PostgresServer()
    try:
        server.start()
        move(folder, server.url)
        tool = binaries() / "pg_dump"  # type: ignore[operator]
        words = ["--schema=discreet_ledger", "--schema=discreet_service", "--inserts", "--no-owner"]
        target.write_bytes(subprocess.run([tool, *words, server.url], check=True, capture_output=True).stdout)
    finally:
        server.remove()


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / name
        root.mkdir()
        facts = {"curator": made_curator(root / "curator"), "survey": made_survey(root / "survey")}
        shutil.copytree(root / "curator", Path(place) / "moved")
        dumped(Path(place) / "moved", root / "books.sql")
        (root / "facts.json").write_text(json.dumps(facts, indent=1))
        TARGET.mkdir(parents=True, exist_ok=True)
        with tarfile.open(TARGET / f"{name}.tar.xz", "w:xz") as file:
            file.add(root, name)
        print(TARGET / f"{name}.tar.xz", (TARGET / f"{name}.tar.xz").stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1])
