"""Write fixtures of the formats as a release makes them: run it with the code of that release on the path.

    git worktree add /some/where RELEASE
    PYTHONPATH=/some/where/src:. python tools/format_fixtures.py NAME

writes tests/fixtures/formats/NAME.tar.xz: a served curator's folder with answers and a token that was revoked, the
folder of a survey, what PostgreSQL dumps of the same databases, and what is known of all of it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from argon2 import PasswordHasher
from tests.servers.postgres import PostgresServer, binaries

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.demo.hospital import visits, visits_policy
from discreet.privacy.neighbours import Neighbours
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore, move
from discreet.survey.questions_file import read_text
from discreet.survey.store import SurveyStore

TARGET = Path(__file__).parents[1] / "tests" / "fixtures" / "formats"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
QUESTIONS = {
    "one": "SELECT COUNT(*) AS n FROM visits",
    "two": "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward",
    "sum": "SELECT SUM(cost) AS s, VARIANCE(cost) AS v FROM visits WHERE age BETWEEN 20 AND 60",
    "plain-sum": "SELECT SUM(age - 50) AS s FROM visits",
    "median": "SELECT MEDIAN(cost) AS m, MIN(age) AS a, MAX(day) AS d FROM visits",
    "mode": "SELECT MODE(ward) AS w FROM visits WHERE day >= DATE '2025-03-01'",
    "people": "SELECT COUNT(DISTINCT patient_id) AS p, COUNT(DISTINCT day) AS d FROM visits",
    "names": "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) FILTER (WHERE age / 2 > 20.5) DESC LIMIT 1",
    "union": "SELECT COUNT(*) AS n FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits WHERE age < 40) t",
    "window": "SELECT month(day) AS m, SUM(COUNT(*)) OVER (ORDER BY month(day)) AS n FROM visits GROUP BY m",
    "public": "SELECT floor, COUNT(*) AS n FROM visits JOIN wards ON ward = name GROUP BY floor",
    "join": "SELECT sex, COUNT(*) AS n FROM visits JOIN patients USING (patient_id) GROUP BY sex",
    "portion": "SELECT COUNT(*) AS n FROM patients WHERE sex = 'f'",
    "unlisted": "SELECT word, COUNT(*) AS n FROM notes GROUP BY word",
    "gauss": "SELECT COUNT(*) AS n, AVG(length) AS l, MEDIAN(length) AS m FROM notes",
    "replaced": "SELECT SUM(grade) AS s FROM grades WHERE grade > 2.5",
}
"""One of every kind that is stored."""
SURVEY = "title: A survey\nepsilon: 1\nquestions:\n  smokes: {ask: Do you smoke?, type: yes-no}\n"


def protected(curator: Curator) -> None:
    everybody = {"patient_id": list(range(30)), "sex": ["f", "m", "f"] * 10}
    words = {
        "patient_id": [k % 30 for k in range(90)],
        "word": ["pain", "rest"] * 45,
        "length": [k % 9 for k in range(90)],
    }
    keys = {"type": "text", "keys": ["f", "m"], "constant_per_unit": True, "nullable": False}
    person = Column("patient_id", ColumnType.INTEGER)
    length = Column("length", ColumnType.INTEGER, lower=0, upper=9, nullable=False)
    grade = Column("grade", ColumnType.REAL, lower=1, upper=6, default=6)
    floor = Column("floor", ColumnType.INTEGER, lower=0, upper=5)
    unlisted = Budget(3, delta="1e-3", delta_for_keys="9e-4")
    ana = {"ana": Budget(3)}
    wards = visits_policy().columns[1]
    curator.protect(
        pa.table(everybody),
        Table("patients", (person, Column("sex", **keys)), unit="patient_id", budget=Budget(3), analysts=ana),
    )
    led = (ForeignKey("patient_id", "patients", "patient_id"),)
    curator.protect(visits(60, 30), replace(visits_policy(ana), foreign_keys=led))
    notes = (person, Column("word", ColumnType.TEXT, nullable=False), length)
    asked = {"analysts": {"ana": None}, "rows_per_unit": 3}
    curator.protect(pa.table(words), Table("notes", notes, unit="patient_id", budget=unlisted, **asked))
    swapped = Table("grades", (grade,), budget=Budget(3), neighbours=Neighbours.REPLACE_ONE, analysts=ana)
    curator.protect(pa.table({"grade": [1.5, None, 3.0]}), swapped)
    curator.protect(
        pa.table({"name": list(wards.keys), "floor": [1, 2, 3, 1, 2]}),
        Table("wards", (replace(wards, name="name"), floor), public=True),
    )


def made_curator(folder: Path) -> dict[str, Any]:
    curator = Curator(folder)
    protected(curator)
    curator.ledger.close()
    members = Members(ServiceStore(folder), hasher=CHEAP)
    for name, role in {"owner": MemberRole.OWNER, "ana": MemberRole.ANALYST}.items():
        members.add(name, role)
    tokens = {name: members.issue(name, days=3650) for name in ("owner", "ana")}
    tokens["revoked"] = members.issue("ana", days=3650)
    members.revoke(tokens["revoked"].split("_")[1])
    service = ServiceState(Settings(folder=folder))
    ana = Principal("ana", MemberRole.ANALYST, "token")
    kept = {name: asking.ask(service, ana, AskRequest(sql, "0.1"), name).arrow for name, sql in QUESTIONS.items()}
    service.close()
    service.store.close()
    service.curator.ledger.close()
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
    """The databases of a folder as a server dumps them; the folder names that server afterwards."""
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
