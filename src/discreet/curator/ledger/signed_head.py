"""Signed heads: how far a ledger has come, to be kept where whoever holds the host cannot reach it.

The witness is on the host of the ledger: who puts an older copy of both back leaves no trace there. A head that was
sent elsewhere shows it. It holds the position and the hash of the last record, what every account had spent by then,
and the head of the audit trail, and is signed with the curator's key. No row, question or answer is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from discreet.curator.certificates.certificate import is_genuine, issue
from discreet.curator.ledger.chain import Account
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.maintenance import restores_in
from discreet.curator.ledger.people import allowance_facts
from discreet.curator.ledger.signing import Signer
from discreet.errors import InvalidValue

__all__ = ["HeadCheck", "HeadVerdict", "account_facts", "check_form", "check_head", "sign_head"]


_FORMAT = 1


class HeadVerdict(Enum):
    """What a saved head says about a ledger."""

    SOUND = "sound"
    """The ledger has the record that the head tells of."""
    ROLLED_BACK = "rolled back"
    """The ledger is shorter than the head: records that were there are gone."""
    FORKED = "forked"
    """The ledger has another record there."""
    RESTORED = "restored"
    """The ledger is another one since, by a restore that its owner has recorded and paid for."""
    NOT_OURS = "not ours"
    """The head is damaged, or another key signed it."""


@dataclass(frozen=True)
class HeadCheck:
    """What came of a comparison."""

    verdict: HeadVerdict
    """In one word."""
    words: str
    """In a sentence."""

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost without being on record."""
        return self.verdict in (HeadVerdict.SOUND, HeadVerdict.RESTORED)


def sign_head(ledger: Ledger, signer: Signer, trail: tuple[int, bytes] | None = None) -> dict[str, Any]:
    """The head of a ledger now, and of the audit ``trail`` where there is one, signed."""
    with ledger.storage.reading():  # one moment of both
        (position, head), accounts = ledger.head(), ledger.accounts()
    facts: dict[str, Any] = {"kind": "head", "format": _FORMAT, "made": datetime.now(UTC).isoformat(timespec="seconds")}
    facts |= {"ledger": {"position": position, "head": head.hex()}}
    facts |= {"accounts": {name: account_facts(one) for name, one in sorted(accounts.items())}}
    facts |= {"trail": None if trail is None else {"position": trail[0], "head": trail[1].hex()}}
    return issue(facts, signer)


def account_facts(account: Account) -> dict[str, Any]:
    """An account in plain numbers: units of the ledger."""
    allowance = account.allowance
    facts = allowance_facts(allowance) | {"places": account.places}
    facts |= {} if account.unit is None else {"unit": account.unit}
    facts |= {"spent": account.spent, "delta_spent": account.delta_spent}
    return facts | ({} if allowance.order is None else {"spent_pure": account.spent_pure, "impure": account.impure})


def check_form(document: Mapping[str, Any], public_key: str) -> tuple[int, bytes] | None:
    """Position and hash of the ledger in a signed head; None where this key did not sign it as it stands."""
    if not is_genuine(document, public_key) or document.get("kind") != "head":
        return None
    if document.get("format") != _FORMAT:
        rule = f"this release reads heads of format {_FORMAT}"
        raise InvalidValue(rule, document.get("format"), "use the release that made it")
    return int(document["ledger"]["position"]), bytes.fromhex(document["ledger"]["head"])


def check_head(ledger: Ledger, document: Mapping[str, Any], public_key: str) -> HeadCheck:
    """Compare a saved head with a ledger; whether the ledger is sound in itself is for `verify`."""
    stated = check_form(document, public_key)
    if stated is None:
        return HeadCheck(HeadVerdict.NOT_OURS, "the head was not signed by this curator as it stands")
    position, head = stated
    here, _ = ledger.head()
    found = ledger.entry(position)
    if found is not None and found.hash == head:
        return HeadCheck(HeadVerdict.SOUND, f"the ledger has record {position} as the head saw it, and {here} in all")
    known = next((one for one in restores_in(ledger) if one.admits(position, str(document["made"]))), None)
    if known is not None:
        words = f"record {position} was lost; the restore that record {known.record} tells of has paid for it"
        return HeadCheck(HeadVerdict.RESTORED, words)
    if found is None:
        words = f"the head saw record {position}, and the ledger ends at record {here}: it was rolled back"
        return HeadCheck(HeadVerdict.ROLLED_BACK, words)
    return HeadCheck(HeadVerdict.FORKED, f"record {position} is another one than the head saw: the ledger was replaced")
