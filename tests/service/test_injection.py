"""Hostile words in questions, names, ids and headers: refused in words or taken as words, never run, never charged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from discreet.service.app import application, guard_app
from discreet.service.auth.rate_limit import Limits
from discreet.service.state import ServiceState
from tests.service.hospital import Hospital, client_of
from tests.service.on_a_socket import on_a_socket
from tests.service.test_limits import _raw

API = "/api/v1"
COUNT = "SELECT COUNT(*) AS n FROM visits"
REFUSED = {
    # More than a question.
    "two statements": f"{COUNT}; DROP TABLE visits",
    "a statement in a comment's shade": f"{COUNT}; --\nDELETE FROM visits",
    "three statements": f"{COUNT};{COUNT};{COUNT}",
    "drop": "DROP TABLE visits",
    "insert": "INSERT INTO visits VALUES (1)",
    "update": "UPDATE visits SET age = 0",
    "create": "CREATE TABLE t AS SELECT * FROM visits",
    "macro": "CREATE MACRO f(x) AS x",
    "attach": "ATTACH '/tmp/x.db'",
    "copy": "COPY visits TO '/tmp/out.csv'",
    "pragma": "PRAGMA database_list",
    "set": "SET memory_limit = '1TB'",
    "load": "INSTALL httpfs; LOAD httpfs",
    "export": "EXPORT DATABASE '/tmp/out'",
    "call": "CALL pragma_version()",
    "explain": f"EXPLAIN ANALYZE {COUNT}",
    "nothing": "",
    "spaces": " \t\n",
    "a comment": "-- nothing",
    "half a comment": "/* nothing",
    # Files, catalogues and the host.
    "a file as a table": "SELECT COUNT(*) FROM '/etc/passwd'",
    "a quoted file as a table": 'SELECT COUNT(*) FROM "/etc/passwd"',
    "a file of rows": "SELECT COUNT(*) FROM 'store/visits.duckdb'",
    "read_csv": "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    "read_text": "SELECT content FROM read_text('/etc/passwd')",
    "glob": "SELECT COUNT(*) FROM glob('/*')",
    "a web address": "SELECT COUNT(*) FROM 'https://example.com/x.parquet'",
    "sqlite": "SELECT COUNT(*) FROM sqlite_scan('service.db', 'token')",
    "tokens": "SELECT COUNT(*) FROM token",
    "another database": "SELECT COUNT(*) FROM service.main.token",
    "information_schema": "SELECT COUNT(*) FROM information_schema.tables",
    "duckdb_tables": "SELECT COUNT(*) FROM duckdb_tables()",
    "sqlite_master": "SELECT COUNT(*) FROM sqlite_master",
    "pg_catalog": "SELECT COUNT(*) FROM pg_catalog.pg_class",
    "getenv": f"SELECT COUNT(*) FROM visits WHERE getenv('HOME') = '{'x'}'",
    "current_setting": "SELECT COUNT(*) FROM visits WHERE current_setting('threads') = '1'",
    "error": "SELECT COUNT(*) FROM visits WHERE error('x') IS NULL",
    "random": "SELECT COUNT(*) FROM visits WHERE random() < 0.5",
    "eval": "SELECT COUNT(*) FROM visits WHERE eval('1') = 1",
    "query": "SELECT * FROM query('SELECT 1')",
    "query_table": "SELECT COUNT(*) FROM query_table('visits')",
    # Rows as they are.
    "rows": "SELECT * FROM visits",
    "rows beside a count": "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id",
    "a union with rows": f"{COUNT} UNION ALL SELECT age FROM visits",
    "a subquery of rows": "SELECT (SELECT age FROM visits LIMIT 1)",
    "an array of rows": "SELECT list(age) FROM visits",
    "a string of rows": "SELECT string_agg(ward, ',') FROM visits",
    "a window": "SELECT age, row_number() OVER () FROM visits",
    "recursion": "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT COUNT(*) FROM t",
    "a made-up table that grows": "SELECT COUNT(*) FROM range(1000000000000)",
    "generate_series": "SELECT COUNT(*) FROM generate_series(1, 1000000000)",
    "a cross join": "SELECT COUNT(*) FROM visits a, visits b, visits c, visits d",
    # Characters.
    "NUL": "SELECT COUNT(*) FROM visits\x00",
    "NUL in a literal": "SELECT COUNT(*) FROM visits WHERE ward = 'a\x00b'",
    "a quote that opens": "SELECT COUNT(*) FROM visits WHERE ward = '",
    "a name that opens": 'SELECT COUNT(*) FROM "visits',
    "a parameter": "SELECT COUNT(*) FROM visits WHERE age = $1",
    "a question mark": "SELECT COUNT(*) FROM visits WHERE age = ?",
    "a named parameter": "SELECT COUNT(*) FROM visits WHERE age = :age",
    "a template": "SELECT COUNT(*) FROM {{ visits }}",
    "letters that look alike": "SELECT COUNT(*) FROM vіsits",
    "a name from right to left": "SELECT COUNT(*) FROM \u202evisits",
    "a name of another table": 'SELECT COUNT(*) FROM "visits"" UNION SELECT 1 --"',
    # Size and depth, written out or not; `tests/query/test_growth.py` has more of them.
    "tables that double": "WITH t0 AS (SELECT * FROM visits)"
    + "".join(f", t{i} AS (SELECT * FROM t{i - 1} UNION ALL SELECT * FROM t{i - 1})" for i in range(1, 30))
    + " SELECT COUNT(*) FROM t29",
    "columns that double": "SELECT COUNT(*) FROM " + "(SELECT *, * FROM " * 15 + "visits" + ")" * 15,
    "parentheses": "SELECT " + "(" * 2_000 + "1" + ")" * 2_000 + " FROM visits",
    "parentheses that open": "SELECT " + "(" * 20_000,
    "nots": "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 2_000 + "TRUE",
    "subqueries": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 2_000 + "visits" + ")" * 2_000,
    "cases": "SELECT COUNT(*) FROM visits WHERE " + "CASE WHEN TRUE THEN " * 2_000 + "1" + " END" * 2_000 + " = 1",
    "ors": "SELECT COUNT(*) FROM visits WHERE " + " OR ".join(["age = 1"] * 3_000),
    "pluses": "SELECT SUM(" + "+".join(["age"] * 4_000) + ") FROM visits",
    "bars": "SELECT COUNT(*) FROM visits WHERE ward = " + "||".join(["'a'"] * 12_000),
    "brackets": "SELECT " + "[" * 3_000 + "]" * 3_000 + " FROM visits",
    "braces": "SELECT " + "{'a': " * 2_000 + "1" + "}" * 2_000 + " FROM visits",
    "casts": "SELECT COUNT(*) FROM visits WHERE age" + "::INTEGER" * 2_000 + " = 1",
    "arrows": "SELECT COUNT(*) FROM visits WHERE ward" + " -> 'a'" * 2_000 + " = 1",
    "dots": "SELECT COUNT(*) FROM visits WHERE a" + ".a" * 4_000 + " = 1",
    "unions": " UNION ALL ".join([COUNT] * 500),
    "joins": "SELECT COUNT(*) FROM visits" + " JOIN visits USING (patient_id)" * 1_000,
    "tables in WITH": "WITH "
    + ", ".join(f"t{i} AS (SELECT * FROM visits)" for i in range(400))
    + " SELECT COUNT(*) FROM t",
    "outputs": "SELECT " + ", ".join(["COUNT(*)"] * 10_000) + " FROM visits",
    "a long name": "SELECT COUNT(*) FROM " + "v" * 90_000,
    "comments": "/*" * 10_000,
    "a long number": "SELECT COUNT(*) FROM visits WHERE age = " + "9" * 90_000,
    "an endless power": "SELECT COUNT(*) FROM visits WHERE age = 1e" + "9" * 1_000,
    "too long": "SELECT COUNT(*) FROM visits WHERE ward = '" + "x" * 200_000 + "'",
    "repeat": "SELECT COUNT(*) FROM visits WHERE repeat(ward, 1000000000) = 'a'",
}
"""Questions that are refused before a row is read."""
WORDS = (
    "surgery'; DROP TABLE visits; --",
    "surgery' OR '1'='1",
    "surgery\\' OR 1=1 --",
    "surgery\\",
    '"; ATTACH',
    "/* */ -- #",
    "$$x$$",
    "%s %d {} {{}}",
    "\r\nSet-Cookie: a=b",
    "日本 😀 \u202e \u0301",
    "<script>alert(1)</script>",
)
"""Words that a literal may hold; they match no ward."""


@pytest.fixture(scope="module")
def hospital(first_hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    folder = tmp_path_factory.mktemp("injection") / "hospital"
    shutil.copytree(first_hospital.folder, folder)
    return Hospital(folder, dict(first_hospital.tokens))


@pytest.fixture(scope="module")
def service(hospital: Hospital) -> Iterator[ServiceState]:
    service = hospital.service()
    service.limits = Limits(10**9)
    yield service
    service.close()


@pytest.fixture(scope="module")
def ana(service: ServiceState, hospital: Hospital) -> httpx.Client:
    return client_of(service, hospital.tokens["ana"])


@pytest.fixture(scope="module")
def owner(service: ServiceState, hospital: Hospital) -> httpx.Client:
    return client_of(service, hospital.tokens["owner"])


def entries(service: ServiceState) -> int:
    """How many records the ledger has: no charge goes without one."""
    return len(list(service.curator.ledger.entries()))


def is_refused(answer: httpx.Response, *statuses: int) -> None:
    assert answer.status_code in statuses, answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert len(said["detail"]) < 2_000
    for word in ("root:", "Traceback", 'File "', "DuckDB", "sqlglot", "apsw", "/ledger"):
        assert word not in said["detail"], said["detail"]


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.some(12)
def test_a_hostile_question_is_refused_in_words_and_costs_nothing(
    service: ServiceState, ana: httpx.Client, name: str
) -> None:
    before = entries(service)
    for path in ("explain", "ask"):
        is_refused(ana.post(f"{API}/{path}", json={"sql": REFUSED[name], "epsilon": "0.1"}), 413, 422)
    assert entries(service) == before


@pytest.mark.parametrize("name", ["drop", "rows", "a file as a table", "tokens", "copy", "two statements"])
def test_an_owner_s_hostile_question_is_refused_as_well(service: ServiceState, owner: httpx.Client, name: str) -> None:
    before = entries(service)
    for path in ("explain", "ask"):
        is_refused(owner.post(f"{API}/{path}", json={"sql": REFUSED[name], "epsilon": "0.1"}), 422)
    assert entries(service) == before


@pytest.mark.parametrize("word", WORDS)
def test_words_in_a_literal_are_words(ana: httpx.Client, word: str) -> None:
    literal = word.replace("'", "''")
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{literal}'"
    explained = ana.post(f"{API}/explain", json={"sql": sql, "epsilon": "0.001"})
    assert explained.status_code in (200, 422), explained.text
    if explained.status_code == 200:
        assert ana.post(f"{API}/explain", json={"sql": COUNT, "epsilon": "0.001"}).status_code == 200
    else:
        is_refused(explained, 422)


@pytest.mark.parametrize(
    "epsilon",
    [0, -1, "nan", "inf", "1e400", "1/0", "0x10", "1; DROP", "", " ", True, [], {}, "1" * 5000, "1e-999999999", 5e-324],
)
def test_a_price_that_is_none_is_refused(service: ServiceState, ana: httpx.Client, epsilon: object) -> None:
    before = entries(service)
    for path in ("explain", "ask"):
        answer = ana.post(f"{API}/{path}", json={"sql": COUNT, "epsilon": epsilon})
        is_refused(answer, 402, 422)
    assert entries(service) == before


NAMES = (
    "'; DROP TABLE member; --",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "visits/../../service.db",
    "visits\x00",
    "visits\r\nSet-Cookie: a=b",
    "%00",
    "\u202evisits",
    "vіsits",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "x" * 2_000,
    "~",
    "CON",
    ".",
    "..",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.some(5)
def test_hostile_names_of_tables_and_tokens_and_members_name_nothing(
    service: ServiceState, owner: httpx.Client, ana: httpx.Client, name: str
) -> None:
    before, members = entries(service), service.members.all()
    path = quote(name, safe="")
    for client in (owner, ana):
        for answer in (
            client.get(f"{API}/tables/{path}"),
            client.get(f"{API}/spending", params={"table": name}),
            client.get(f"{API}/typical-questions", params={"table": name}),
            client.get(f"{API}/jobs/{path}"),
            client.get(f"{API}/answers/{path}"),
            client.get(f"{API}/answers/{path}/certificate"),
            client.get(f"{API}/ledger/{path}/certificate"),
            client.delete(f"{API}/tokens/{path}"),
            client.get(f"{API}/tokens", params={"member": name}),
            client.delete(f"{API}/members", params={"name": name}),
        ):
            assert "set-cookie" not in answer.headers
            # A dot or two are a path of their own for every client.
            if answer.status_code != 200 or name not in (".", ".."):
                is_refused(answer, 403, 404, 405, 422)
    assert (entries(service), service.members.all()) == (before, members)


@pytest.mark.parametrize("request_id", NAMES)
def test_a_hostile_request_id_is_refused_or_is_an_id_like_any_other(
    service: ServiceState, ana: httpx.Client, request_id: str
) -> None:
    before = entries(service)
    sent = {"sql": COUNT, "epsilon": "0.01", "request": request_id}
    answer = ana.post(f"{API}/ask", json=sent)
    assert "set-cookie" not in answer.headers
    if answer.status_code != 200:
        is_refused(answer, 422)
        assert entries(service) == before
        return
    after = entries(service)
    again = ana.post(f"{API}/ask", json=sent)
    assert (again.status_code, entries(service)) == (200, after)
    assert again.json()["rows"] == answer.json()["rows"]
    if request_id not in (".", ".."):
        assert ana.get(answer.headers["content-location"]).json()["rows"] == answer.json()["rows"]


HEADERS = (
    (b"accept", b"\xff\xfe"),
    (b"accept", b"text/csv;q=" + b"9" * 2_000),
    (b"accept", b",".join([b"text/csv"] * 3_000)),
    (b"accept", b"application/json;q=nan, text/csv;q=-1"),
    (b"prefer", b"respond-async=\x00"),
    (b"content-type", b"application/json; charset=\xff"),
    (b"x-forwarded-for", b"'; DROP TABLE member; --"),
    (b"x-request-id", b"a" * 10_000),
    (b"cookie", b"discreet_session=" + b"a" * 10_000),
    (b"range", b"bytes=0-0,1-1"),
    (b"if-none-match", b"*"),
    (b"host", b"hospital.test:99999999"),
)


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header[0].decode())
def test_hostile_headers_are_refused_or_do_nothing(ana: httpx.Client, header: tuple[bytes, bytes]) -> None:
    kept = [(b"content-type", b"application/json")] if header[0] != b"content-type" else []
    for answer in (
        ana.post(f"{API}/explain", json={"sql": COUNT, "epsilon": "0.1"}, headers=[*kept, header]),
        ana.get(f"{API}/answers/nothing", headers=[header]),
    ):
        assert answer.status_code < 500
        if answer.status_code != 200:
            is_refused(answer, 400, 404, 406, 415, 421)


def test_what_hides_in_the_seams_of_http_is_one_request_or_none(service: ServiceState, hospital: Hospital) -> None:
    """Two lengths, folded headers, two tokens, and bytes after the end: never a second request in another's name."""
    good, bad = hospital.tokens["ana"].encode(), b"discreet_" + b"0" * 16 + b"_" + b"0" * 64
    line = b"GET /api/v1/me HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
    smuggled = b"GET /api/v1/members HTTP/1.1\r\nHost: here\r\n\r\n"
    hostile = {
        "two lengths": line + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + smuggled,
        "a length and chunks": line + b"Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
        "a folded header": line + b"Authorization: Bearer\r\n " + good + b"\r\n\r\n",
        "a name with a space": line + b"Authorization : Bearer " + good + b"\r\n\r\n",
        "NUL": line + b"X: a\x00b\r\n\r\n",
        "bare CR": line + b"X: a\rAuthorization: Bearer " + good + b"\r\n\r\n",
        "another protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        "a whole address": b"GET http://elsewhere/api/v1/members HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n",
    }
    with on_a_socket(guard_app(application(service))) as port:
        for name, sent in hostile.items():
            heard = _raw(port, sent)
            assert heard.count(b"HTTP/1.1 ") <= 1, (name, heard)
            assert b" 200 " not in heard.partition(b"\r\n")[0] or b'"ana"' in heard, (name, heard)
            assert b" 50" not in heard.partition(b"\r\n")[0], (name, heard)
        for first, second in ((good, bad), (bad, good)):
            both = b"".join(b"Authorization: Bearer " + one + b"\r\n" for one in (first, second))
            heard = _raw(port, line + both + b"\r\n")
            assert heard.startswith(b"HTTP/1.1 200" if first == good else b"HTTP/1.1 401"), heard


def laughs() -> str:
    """YAML in which each list holds the one before nine times."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    return "\n".join(lines)


POLICIES = {
    "nothing": "",
    "no YAML": "{" * 10,
    "a list": "[]",
    "NUL": "table: vis\x00its",
    "an object of Python": "table: !!python/object/apply:os.system ['touch /tmp/owned']",
    "a module of Python": "table: !!python/name:os.system",
    "another tag": "!!set {a, b}",
    "a laugh a thousand million times": laughs(),
    "a laugh in a field": laughs() + "\ntable: *a11",
    "a table of itself": "table: &a [*a]",
    "depth": "table: " + "[" * 5_000,
    "depth of maps": "{a: " * 3_000 + "1" + "}" * 3_000,
    "depth of lines": "".join(" " * i + "a:\n" for i in range(600)),
    "a key twice": "table: visits\ntable: visits",
    "unknown fields": "table: visits\nadmin: true\n__class__: x",
    "two documents": "table: a\n---\ntable: b",
    "a budget that is none": "table: visits\nunit: patient_id\nbudget: {epsilon: .inf}",
    "a budget of Python": "table: visits\nunit: patient_id\nbudget: {epsilon: '__import__(\"os\")'}",
    "a long number": "table: visits\nunit: patient_id\nbudget: {epsilon: " + "9" * 50_000 + "}",
    "an endless power": "table: visits\nunit: patient_id\nbudget: {epsilon: 1e" + "9" * 300 + "}",
    "a name with control characters": 'table: "a\\r\\nSet-Cookie: b=c"\nunit: patient_id\nbudget: {epsilon: 1}',
    "a name of its own": "table: _secret\nunit: patient_id\nbudget: {epsilon: 1}",
}
"""Texts that are no policies."""


@pytest.mark.parametrize("name", POLICIES)
def test_a_hostile_policy_is_refused_in_words_and_changes_nothing(
    service: ServiceState, owner: httpx.Client, name: str
) -> None:
    before, known = entries(service), sorted(service.settings.folder.rglob("*"))
    checked = owner.post(f"{API}/policies/check", json={"policy": POLICIES[name]})
    if checked.status_code == 200:
        assert checked.json(), "what is wrong is listed"
    else:
        is_refused(checked, 422)
    is_refused(owner.post(f"{API}/tables", json={"policy": POLICIES[name], "upload": "0" * 32}), 404, 422)
    assert "set-cookie" not in checked.headers
    assert (entries(service), sorted(service.settings.folder.rglob("*"))) == (before, known)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../../../etc/passwd",
        "service.db",
        "~/.bashrc",
        "\x00",
        "",
        "https://example.com/x.csv",
        "x" * 4096,
    ],
)
def test_a_path_that_no_setting_lists_is_refused(owner: httpx.Client, path: str) -> None:
    for answer in (
        owner.post(f"{API}/policies/draft", json={"path": path}),
        owner.post(f"{API}/tables", json={"path": path, "policy": "table: t\nunit: a\nbudget: {epsilon: 1}\n"}),
    ):
        is_refused(answer, 403, 404, 422)
        assert "root:" not in answer.text


TABLES = ("../../escaped", "a/b", "x'; DROP TABLE y; --", 'a"b', "Ä 日本", "CON", "a.b", "..", "%2e%2e")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.some(3)
def test_a_table_with_a_hostile_name_is_refused_or_stays_in_the_folder_under_that_name(
    service: ServiceState, owner: httpx.Client, name: str
) -> None:
    around = service.settings.folder.parent
    outside = sorted(one for one in around.rglob("*") if service.settings.folder not in (one, *one.parents))
    sent = owner.post(f"{API}/uploads", params={"file": "rows.csv"}, content=b"person,age\n1,30\n2,40\n")
    policy = {
        "table": name,
        "unit": "person",
        "budget": {"epsilon": 1},
        "rows_per_unit": 1,
        "columns": {"person": {"type": "integer"}, "age": {"type": "integer", "lower": 0, "upper": 100}},
    }
    answer = owner.post(f"{API}/tables", json={"upload": sent.json()["id"], "policy": json.dumps(policy)})
    if answer.status_code == 201:
        assert answer.json()["table"]["name"] == name
        assert owner.get(f"{API}/spending", params={"table": name}).status_code == 200
    else:
        is_refused(answer, 422)
    assert sorted(one for one in around.rglob("*") if service.settings.folder not in (one, *one.parents)) == outside
