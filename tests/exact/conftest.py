from __future__ import annotations

from hypothesis import settings

# A busy machine makes any example slow once in a while; the suites that time something do it on purpose.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
