"""What is checked before anything listens: settings that could be read, but cannot work."""

from __future__ import annotations

import os
import ssl

from discreet.errors import InvalidValue
from discreet.service.settings import Settings
from discreet.web.listening import LOOPBACK

__all__ = ["check_certificate", "with_hosts"]


def check_certificate(settings: Settings) -> None:
    """Refuse a certificate and a key that cannot be read, or do not belong together."""
    certificate, key = settings.certificate_file, settings.key_file
    if certificate is None or key is None:
        return
    for file in (certificate, key):
        if not file.is_file() or not os.access(file, os.R_OK):
            raise InvalidValue("certificate and key must be files that can be read", str(file))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError):
        rule = "certificate and key must be PEM files that belong together, the key without a password"
        raise InvalidValue(rule, f"<{certificate}, {key}>") from None


def with_hosts(settings: Settings) -> Settings:
    """The settings, where the service answers to the names of this computer alone if nobody else can reach it."""
    if settings.hosts or settings.behind_proxy or settings.host not in LOOPBACK:
        return settings
    return settings.model_copy(update={"hosts": tuple(sorted(LOOPBACK))})
