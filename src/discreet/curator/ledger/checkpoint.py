"""A signed checkpoint: up to this record the ledger was found sound, and its accounts stood like this.

It is a file beside the ledger, made by whoever verified the ledger that far, and signed with the curator's key. It
grants nothing: where it is missing, damaged, signed by another key, or at odds with the ledger, the ledger is verified
as a whole, as if there were none. An older one costs a longer check, of all that was written since. Who can read the
signing key could sign one, as they could sign certificates: against them stands the verification of the whole.

Distrust: once a verification found a ledger wrong, no question is answered until another finds it sound.

The file ``ledger.problems`` tells every process that uses the folder, also one that is started later, and says to the
owner what was found. It is removed by the next verification of the whole ledger that finds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.curator.ledger.chain import canonical
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.signing import Signer, is_signed
from discreet.errors import LedgerError
from discreet.storage.files import write_whole

__all__ = ["Checkpoint", "check_trusted", "checkpoint_path", "distrust", "is_distrusted", "trust"]


_PURPOSE = b"discreet ledger checkpoint 1\n"
"""Signed before the rest, so that nothing else that the key signs can pass for a checkpoint."""
_NAMES = {"position": "position", "head": "head", "accounts": "accounts", "witnesses": "witnesses"}
"""The fields of a checkpoint and what its file calls them; files of before have these names too."""


@dataclass(frozen=True)
class Checkpoint:
    """What a verification found."""

    position: int
    """The last record that was replayed."""
    head: str
    """Its hash."""
    accounts: Mapping[str, list[Any]]
    """Per account: its measure, cap, cap of δ, places, what was spent, and what was spent of δ."""
    witnesses: Mapping[str, int]
    """Per file of a witness, how many bytes of it were held against the ledger."""

    @classmethod
    def read(cls, ledger: Ledger, public_key: bytes | None) -> Checkpoint | None:
        """The checkpoint of a ledger, if it is signed with this key as it stands; None for any other."""
        if public_key is None:
            return None
        try:
            found = json.loads(checkpoint_path(ledger).read_bytes())
            signature = bytes.fromhex(found.pop("signature"))
            is_genuine = is_signed(_PURPOSE + canonical(found), signature, public_key)
            is_ours = is_genuine and set(found) == set(_NAMES.values())
            return cls(**{field: found[name] for field, name in _NAMES.items()}) if is_ours else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def write(self, ledger: Ledger, signer: Signer) -> None:
        """Put it in the place of the one before, in one step; where the folder takes no files, there is none."""
        body = {name: getattr(self, field) for field, name in _NAMES.items()}
        signed = body | {"signature": signer.sign(_PURPOSE + canonical(body)).hex()}
        with suppress(OSError):
            write_whole(checkpoint_path(ledger), canonical(signed))


def checkpoint_path(ledger: Ledger) -> Path:
    """The file of the checkpoint; each host that shares a server has one, as it has a witness."""
    witness = ledger.witness.path
    return witness.with_name(witness.name.replace("ledger.witness", "ledger.checkpoint", 1))


FILE = "ledger.problems"
_MOST = 100
"""Problems that are written down; the first ones tell most."""
_HERE: set[Path] = set()
"""Folders that this process found wrong, where the file could not be written."""


def distrust(folder: Path, problems: Sequence[str]) -> None:
    """From now on no question is answered here."""
    try:
        (folder / FILE).write_text("".join(f"{one}\n" for one in problems[:_MOST]), encoding="utf-8")
    except OSError:
        _HERE.add(folder.resolve())


def trust(folder: Path) -> None:
    """The whole ledger was found sound."""
    _HERE.discard(folder.resolve())
    with suppress(OSError):
        (folder / FILE).unlink(missing_ok=True)


def is_distrusted(folder: Path) -> bool:
    """Whether the ledger was found wrong, by this process or another one."""
    return (folder / FILE).exists() or (bool(_HERE) and folder.resolve() in _HERE)


def check_trusted(folder: Path) -> None:
    """Refuse whatever would be charged or answered from a ledger that was found wrong."""
    if is_distrusted(folder):
        remedy = "see discreet ledger verify; questions are answered again once it finds nothing"
        raise LedgerError("the ledger must be sound", "<a verification found it wrong>", remedy)
