"""Certificates: what was asked, how it was answered and what it cost, signed, checkable without the data.

>>> import tempfile
>>> from pathlib import Path
>>> signer = Signer(Path(tempfile.mkdtemp()))
>>> paper = issue({"question": "SELECT COUNT(*) FROM visits"}, signer)
>>> is_genuine(paper), is_genuine(paper | {"question": "another"})
(True, False)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.curator.ledger.chain import canonical
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.signing import KEY_FILE, Signer, fingerprint_key, is_signed
from discreet.errors import InvalidValue

__all__ = ["is_by_curator", "is_genuine", "is_in_ledger", "issue", "read_certificate"]


def issue(facts: Mapping[str, Any], signer: Signer) -> dict[str, Any]:
    """The facts with the curator's public key, its fingerprint and the signature."""
    body = dict(facts) | {"public_key": signer.public_key.hex(), "key_fingerprint": signer.fingerprint}
    return body | {"signature": signer.sign(canonical(body)).hex()}


def read_certificate(text: str | bytes) -> dict[str, Any]:
    """The certificate that a file holds; a name that is given twice is refused, because readers would differ on it."""
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidValue("a certificate is one JSON object, with every name once", "<something else>")
    return found


def is_genuine(certificate: Mapping[str, Any], public_key: str | None = None) -> bool:
    """Whether the curator that it names signed it as it stands; pass ``public_key`` to insist on a certain curator."""
    body = {name: value for name, value in certificate.items() if name != "signature"}
    try:
        named, signature = str(body["public_key"]), _bytes(certificate["signature"])
        genuine = is_signed(canonical(body), signature, _bytes(named)) and _names_its_key(body)
    except (KeyError, ValueError, TypeError):
        return False
    return genuine and (public_key is None or public_key.strip().lower() == named)


def _names_its_key(body: Mapping[str, Any]) -> bool:
    """Certificates of before name their key by its public half alone."""
    own = fingerprint_key(_bytes(body["public_key"]))
    return bool(body.get("key_fingerprint", own) == own)


def is_by_curator(certificate: Mapping[str, Any], ledger: Ledger) -> bool:
    """Whether it is genuine, and signed with a key that the ledger recorded, be it retired by now."""
    keys = {key.public_key.hex() for key in ledger.signing_keys()}
    if not keys and (ledger.folder / KEY_FILE).exists():  # from before keys were recorded
        keys = {Signer(ledger.folder).public_key.hex()}
    return is_genuine(certificate) and certificate["public_key"] in keys


def is_in_ledger(certificate: Mapping[str, Any], ledger: Ledger) -> bool:
    """Whether the ledger has that answer, with that hash, at the position that the certificate states."""
    stated = certificate.get("ledger")
    if not isinstance(stated, Mapping) or not isinstance(stated.get("position"), int):
        return False
    entry = ledger.entry(stated["position"])
    if entry is None:
        return False
    body = entry.body
    same_record = entry.hash.hex() == stated.get("head") and body.get("charge") == stated.get("charge")
    return same_record and body.get("kind") == "answer" and body.get("answer") == certificate.get("answer")


def _bytes(text: object) -> bytes:
    """The bytes of plain lower-case hexadecimal digits, the one spelling that is signed."""
    data = bytes.fromhex(str(text))
    if data.hex() != text:
        raise ValueError("another spelling")
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
