"""Certificates: what was asked, how it was answered and what it cost, signed, checkable without the data.

>>> import tempfile
>>> from pathlib import Path
>>> signer = Signer(Path(tempfile.mkdtemp()))
>>> paper = issue({"question": "SELECT COUNT(*) FROM visits"}, signer)
>>> is_genuine(paper), is_genuine(paper | {"question": "another"})
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.curator.chain import canonical
from discreet.curator.signing import Signer, is_signed

__all__ = ["is_genuine", "issue"]


def issue(facts: Mapping[str, Any], signer: Signer) -> dict[str, Any]:
    """The facts with the curator's public key and signature."""
    body = dict(facts) | {"public_key": signer.public_key.hex()}
    return body | {"signature": signer.sign(canonical(body)).hex()}


def is_genuine(certificate: Mapping[str, Any], public_key: str | None = None) -> bool:
    """Whether the curator that it names signed it as it stands; pass ``public_key`` to insist on a certain curator."""
    body = {name: value for name, value in certificate.items() if name != "signature"}
    try:
        named, signature = str(body["public_key"]), bytes.fromhex(str(certificate["signature"]))
        genuine = is_signed(canonical(body), signature, bytes.fromhex(named))
    except (KeyError, ValueError, TypeError):
        return False
    return genuine and (public_key is None or public_key == named)
