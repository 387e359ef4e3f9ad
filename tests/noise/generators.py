"""The lint of R4: only the random source may touch a generator. It reads code, so it cannot be fooled by luck."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MODULES = {"random", "secrets", "uuid", "numpy.random", "torch", "jax", "Crypto.Random"}
_CALLS = {"urandom", "getrandom", "rvs", "default_rng", "RandomState", "SystemRandom", "uuid4", "token_bytes"}


def generators_in(code: str) -> list[str]:
    """Every name in ``code`` that reaches a generator other than the random source."""
    return sorted({name for node in ast.walk(ast.parse(code)) for name in _named(node)})


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    elif isinstance(node, ast.Attribute):
        names = ["numpy.random"] if ast.unparse(node) in ("np.random", "numpy.random") else []
        names += [node.attr] if node.attr in _CALLS else []
    else:
        return
    yield from (name for name in names if name in _MODULES or name.split(".")[-1] in _CALLS)
