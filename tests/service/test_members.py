"""Members and their tokens."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from discreet.errors import InvalidInput, InvalidValue, NotFound, NotSignedIn, StoreError
from discreet.service.auth.members import Issued, Members
from discreet.service.auth.password import StoredHash, Verifier
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.storage import ServiceStore
from tests.service.hospital import CHEAP
from tests.threads import at_once

DAY = 86_400.0


class Clock:
    """A clock on a wall, which somebody may turn."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def members(tmp_path: Path, clock: Clock) -> Members:
    found = Members(ServiceStore(tmp_path), clock, CHEAP)
    found.add("boss", MemberRole.OWNER)
    found.add("ana", MemberRole.ANALYST)
    return found


def another_process(tmp_path: Path, clock: Clock) -> Members:
    """The same database, opened by somebody who remembers nothing."""
    return Members(ServiceStore(tmp_path), clock, CHEAP)


# Tokens.


def change_storage(folder: Path, statement: str) -> None:
    """A change behind the back of the members."""
    store = ServiceStore(folder)
    try:
        store.write(lambda database: database.execute(statement))
    finally:
        store.close()


def test_a_token_stands_for_a_member_and_its_secret_is_kept_nowhere(members: Members, tmp_path: Path) -> None:
    token = members.issue("ana", days=1)
    assert re.fullmatch(r"discreet_[0-9a-f]{16}_[0-9a-f]{64}", token)
    public, secret = token.split("_")[1:]
    assert members.principal(token) == Principal("ana", MemberRole.ANALYST, public)
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert public.encode() in kept
    assert secret.encode() not in kept
    assert secret[:32].encode() not in kept


def test_what_is_kept_is_argon2id_of_a_secret_that_nobody_can_guess(tmp_path: Path) -> None:
    store = ServiceStore(tmp_path)
    members = Members(store)
    members.add("boss", MemberRole.OWNER)
    token = members.issue("boss", days=1)
    ((kept,),) = store.rows("SELECT hash FROM token")
    found = extract_parameters(kept)
    assert (found.type, found.memory_cost) == (Type.ID, 1024)
    assert re.fullmatch("discreet_[0-9a-f]{16}_[0-9a-f]{64}", token)  # small costs are for 256 random bits alone
    assert members.principal(token).name == "boss"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "discreet",
        "discreet__",
        "x" * 10_000,
        "discreet_" + "0" * 16 + "_" + "0" * 64,
        "discreet_" + "0" * 16 + "_" + "0" * 64 + "\n",
        "Ⅷ" * 90,
        "\x00",
        "' OR 1=1 --",
    ],
)
def test_what_is_no_token_is_refused(members: Members, wrong: str) -> None:
    with pytest.raises(NotSignedIn, match="a request must carry a valid token"):
        members.principal(wrong)


def test_a_wrong_secret_an_ended_and_an_unknown_token_are_refused_in_the_same_words(
    members: Members, clock: Clock
) -> None:
    right, revoked, expired = (members.issue("ana", days=days) for days in (2, 2, 1))
    members.revoke(revoked.split("_")[1])
    clock.now += DAY
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
    unknown = f"discreet_{'0' * 16}_{right[-64:]}"
    said = set()
    for token in (wrong, revoked, expired, unknown, "nonsense"):
        with pytest.raises(NotSignedIn) as refusal:
            members.principal(token)
        said.add(str(refusal.value))
    assert len(said) == 1
    assert members.principal(right).name == "ana"


def test_a_token_of_one_member_with_the_secret_of_another_is_refused(members: Members) -> None:
    first, second = members.issue("boss", days=1), members.issue("ana", days=1)
    for token in (first, second):
        members.principal(token)  # both are remembered now
    with pytest.raises(NotSignedIn):
        members.principal(first[:26] + second[26:])


def test_a_token_that_is_revoked_elsewhere_ends_here_at_once_although_it_is_remembered(
    members: Members, tmp_path: Path, clock: Clock
) -> None:
    token = members.issue("ana", days=1)
    elsewhere = another_process(tmp_path, clock)
    assert members.principal(token) == elsewhere.principal(token)
    elsewhere.revoke(token.split("_")[1])
    for each in (members, elsewhere):
        with pytest.raises(NotSignedIn):
            each.principal(token)


def test_a_clock_that_jumps_back_revives_no_revoked_token_and_one_that_jumps_ahead_ends_all(
    members: Members, clock: Clock
) -> None:
    revoked, other = members.issue("ana", days=1), members.issue("ana", days=1)
    members.revoke(revoked.split("_")[1])
    for now in (0.0, -1e12, clock.now - 10 * DAY):
        clock.now = now
        with pytest.raises(NotSignedIn):
            members.principal(revoked)
        assert members.principal(other).name == "ana"
    clock.now = 1e15
    with pytest.raises(NotSignedIn):
        members.principal(other)
    assert members.principal(members.issue("boss", days=1)).name == "boss"


def test_a_revoked_token_cannot_be_made_good_in_the_storage(members: Members, tmp_path: Path) -> None:
    token = members.issued("ana", days=1).token
    members.revoke(token.id)
    with pytest.raises(StoreError, match="ConstraintError"):
        change_storage(tmp_path, "UPDATE token SET revoked = NULL")


def test_a_token_that_is_revoked_twice_keeps_its_first_time(members: Members, clock: Clock) -> None:
    token = members.issued("ana", days=1).token
    members.revoke(token.id)
    first, clock.now = members.token(token.id), clock.now + 5
    members.revoke(token.id)
    assert members.token(token.id) == first
    assert not members.is_good(first)


@pytest.mark.parametrize("days", [0, -1, 3651, 1e308, 5e-324, 1e-5, True, float("nan"), float("inf"), -float("inf")])
def test_a_token_that_never_or_always_lives_is_refused(members: Members, days: float) -> None:
    with pytest.raises(InvalidValue, match="a token must live"):
        members.issue("ana", days=days)
    assert members.tokens("ana") == []


@pytest.mark.parametrize("label", ["x" * 101, "a\nb", "a\x00", "a\x1b[31m", "\ud800", "a\u2028b"])
def test_a_label_that_cannot_be_shown_is_refused(members: Members, label: str) -> None:
    with pytest.raises(InvalidInput):
        members.issue("ana", label=label, days=1)


def test_a_member_has_few_tokens_at_once_and_the_storage_does_not_grow_with_those_that_ended(members: Members) -> None:
    for _ in range(50):
        members.issue("ana", days=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Verifier, "kept", lambda *_: pytest.fail("one too many is refused before the work of hashing it"))
        with pytest.raises(InvalidValue, match="50 tokens"):
            members.issue("ana", days=1)
    members.issue("boss", days=1)
    for _ in range(120):
        members.revoke(next(one.id for one in members.tokens("ana") if members.is_good(one)))
        members.issue("ana", days=1)
    assert sum(members.is_good(one) for one in members.tokens("ana")) == 50
    assert len(members.tokens("ana")) <= 101


# Members.


def test_a_name_is_taken_for_good_also_by_those_who_left(members: Members) -> None:
    members.remove("ana")
    for name in ("ana", "boss"):
        with pytest.raises(InvalidValue, match="must be new"):
            members.add(name, MemberRole.OWNER)
    assert [(one.name, one.removed is None) for one in members.all()] == [("ana", False), ("boss", True)]


@pytest.mark.parametrize("name", ["", " ", " ana", "_ana", "a\nb", "a\x00b", "\ud800", "x" * 151, 5, None])
def test_a_name_that_no_policy_could_name_is_refused(members: Members, name: str) -> None:
    with pytest.raises(InvalidInput, match="a member's name"):
        members.add(name, MemberRole.ANALYST)


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE member; --", "ana/../boss", "Ää 日本 😀", 'a"b', "%2e%2e", "..", "x" * 150]
)
def test_an_odd_name_is_a_name(members: Members, name: str) -> None:
    members.add(name, MemberRole.AUDITOR)
    assert members.principal(members.issue(name, days=1)).name == name
    members.remove(name)
    assert {one.name for one in members.all()} == {"ana", "boss", name}


def test_all_tokens_of_a_member_end_when_they_leave(members: Members, tmp_path: Path, clock: Clock) -> None:
    tokens = [members.issue("ana", days=1), members.issue("ana", days=1, once=True)]
    members.principal(tokens[0])
    another_process(tmp_path, clock).remove("ana")
    for token in tokens:
        with pytest.raises(NotSignedIn):
            members.principal(token)
        with pytest.raises(NotSignedIn):
            members.exchange(token, 1)
    with pytest.raises(NotFound):
        members.issue("ana", days=1)
    with pytest.raises(NotFound):
        members.remove("ana")


def test_who_left_does_not_come_back_by_a_change_of_the_storage(members: Members, tmp_path: Path) -> None:
    members.remove("ana")
    for change in ("UPDATE member SET removed = NULL", "DELETE FROM member"):
        with pytest.raises(StoreError, match="ConstraintError"):
            change_storage(tmp_path, change)


def test_the_last_owner_stays_also_when_two_leave_at_once(members: Members, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="must keep an owner"):
        members.remove("boss")
    members.add("second", MemberRole.OWNER)
    names = ["boss", "second"] * 4

    def leave() -> str:
        try:
            members.remove(names.pop())
        except (InvalidValue, NotFound) as refusal:
            return type(refusal).__name__
        return "left"

    assert at_once(leave, 8, 4).count("left") == 1
    assert sum(one.removed is None and one.role is MemberRole.OWNER for one in members.all()) == 1


# One-time tokens.


def test_a_one_time_token_is_used_up_by_exchanging_it_and_good_for_nothing_else(members: Members) -> None:
    token = members.issue("boss", days=1, once=True)
    with pytest.raises(NotSignedIn, match="exchange it first"):
        members.principal(token)
    lasting = members.exchange(token, 30)
    assert members.principal(lasting).name == "boss"
    with pytest.raises(NotSignedIn, match="valid token"):
        members.exchange(token, 30)
    with pytest.raises(NotSignedIn, match="valid token"):
        members.principal(token)
    kept = members.token(lasting.split("_")[1])
    assert (kept.expires - kept.made, kept.once) == (30 * DAY, False)


def test_a_lasting_token_is_not_exchanged(members: Members) -> None:
    token = members.issue("boss", days=1)
    with pytest.raises(InvalidValue, match="only a one-time token"):
        members.exchange(token, 30)
    assert members.principal(token).name == "boss"


def test_of_many_who_exchange_a_one_time_token_at_once_one_succeeds(members: Members) -> None:
    """Each thread has a connection of its own to the database, as each process has."""
    token = members.issue("boss", days=1, once=True)

    def exchange() -> str:
        try:
            return members.exchange(token, 1)
        except NotSignedIn:
            return ""

    won = [one for one in at_once(exchange, 24, 8) if one]
    assert len(won) == 1
    assert members.principal(won[0]).name == "boss"
    assert sum(members.is_good(one) for one in members.tokens("boss")) == 1


def test_an_expired_one_time_token_is_not_exchanged(members: Members, clock: Clock) -> None:
    token = members.issue("boss", days=1, once=True)
    clock.now += DAY
    with pytest.raises(NotSignedIn):
        members.exchange(token, 30)


# The first start.


def test_the_first_start_makes_an_owner_with_a_one_time_token_for_a_day(tmp_path: Path, clock: Clock) -> None:
    members = Members(ServiceStore(tmp_path), clock, CHEAP)
    first = members.start()
    assert isinstance(first, Issued)
    assert (first.token.member, first.token.once, first.token.expires) == ("owner", True, clock.now + DAY)
    assert [(one.name, one.role) for one in members.all()] == [("owner", MemberRole.OWNER)]
    assert members.start() is None
    assert members.principal(members.exchange(first.secret, 1)).role is MemberRole.OWNER


def test_of_many_first_starts_at_once_one_makes_the_owner(tmp_path: Path) -> None:
    store = ServiceStore(tmp_path)
    made = at_once(lambda: Members(store, hasher=CHEAP).start(), 12, 6)
    assert sum(one is not None for one in made) == 1


def test_a_service_of_members_without_an_owner_gets_one_whatever_names_are_taken(tmp_path: Path) -> None:
    members = Members(ServiceStore(tmp_path), hasher=CHEAP)
    members.add("owner", MemberRole.ANALYST)
    first = members.start()
    assert first is not None
    assert first.token.member == "owner 2"
    members.remove("owner")
    assert members.start() is None


# Verifying.


class Counting(PasswordHasher):
    """Argon2 that counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # noqa: A002
        self.verified += 1
        return super().verify(hash, password)


def test_a_token_is_verified_once_also_when_many_requests_bring_it_at_once(tmp_path: Path) -> None:
    hasher = Counting()
    members = Members(ServiceStore(tmp_path), hasher=hasher)
    members.add("boss", MemberRole.OWNER)
    token = members.issue("boss", days=1)
    assert at_once(lambda: members.principal(token).name, 60) == ["boss"] * 60
    assert hasher.verified == 1


def test_wrong_secrets_cost_no_verification_and_keep_nobody_waiting(tmp_path: Path) -> None:
    """A wrong secret passes the mark once in 2³² times: the false-alarm rate is under 1e-7."""
    hasher = Counting()
    members = Members(ServiceStore(tmp_path), hasher=hasher)
    members.add("boss", MemberRole.OWNER)
    token = members.issue("boss", days=1)
    for number in range(300):
        with pytest.raises(NotSignedIn):
            members.principal(f"{token[:26]}{number:064x}")
    assert hasher.verified == 0
    assert members.principal(token).name == "boss"


def test_a_secret_whose_mark_is_right_by_chance_is_verified_and_refused(tmp_path: Path) -> None:
    hasher = Counting()
    verifier = Verifier(hasher)
    kept = verifier.kept("right")
    lucky = StoredHash(Verifier(CHEAP).kept("wrong").mark, kept.hash)
    assert not verifier.is_right("id", "wrong", lambda: lucky)
    assert hasher.verified == 1
    assert verifier.is_right("id", "right", lambda: kept)
    assert not verifier.is_right("id", "wrong", lambda: lucky)


def test_ended_and_unknown_tokens_are_refused_without_the_work_of_verifying(tmp_path: Path) -> None:
    hasher = Counting()
    members = Members(ServiceStore(tmp_path), hasher=hasher)
    members.add("boss", MemberRole.OWNER)
    revoked = members.issued("boss", days=1)
    members.revoke(revoked.token.id)
    for token in (revoked.secret, f"discreet_{'0' * 16}_{'0' * 64}"):
        with pytest.raises(NotSignedIn):
            members.principal(token)
    assert hasher.verified == 0


def test_what_is_remembered_is_bounded_and_forgotten_on_revocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.service.auth.password._REMEMBERED", 10)
    verifier = Verifier(CHEAP)
    kept = verifier.kept("secret")
    for number in range(30):
        assert verifier.is_right(f"token {number}", "secret", lambda: kept)
    assert list(verifier._right.values()) == [f"token {number}" for number in range(20, 30)]
    assert verifier.is_right("token 20", "secret", lambda: None)
    verifier.forget("token 20")
    assert not verifier.is_right("token 20", "secret", lambda: None)
    assert not verifier.is_right("token 0", "secret", lambda: None)


def test_a_damaged_hash_lets_nobody_in(members: Members, tmp_path: Path) -> None:
    token = members.issue("ana", days=1)
    change_storage(tmp_path, "UPDATE token SET hash = 'damaged'")
    with pytest.raises(NotSignedIn):
        members.principal(token)


# The database.


def test_a_storage_of_another_release_is_not_opened(tmp_path: Path) -> None:
    ServiceStore(tmp_path).close()
    with apsw.Connection(str(tmp_path / "service.db")) as database:
        database.pragma("user_version", 99)
    with pytest.raises(StoreError, match="newer release of Discreet"):
        ServiceStore(tmp_path)


def test_a_file_that_is_no_storage_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "service.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="must be readable"):
        ServiceStore(tmp_path)


def test_the_storage_is_for_its_owner_alone(tmp_path: Path) -> None:
    ServiceStore(tmp_path)
    assert (tmp_path / "service.db").stat().st_mode & 0o777 == 0o600
