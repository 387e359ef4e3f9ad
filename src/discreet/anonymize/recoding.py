"""What every way of recoding a table has in common: it is found once and can be applied to other rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pyarrow as pa

__all__ = ["Recoding"]


class Recoding(ABC):
    """How the values of a table are replaced by coarser ones. It holds no rows."""

    @abstractmethod
    def transform(self, source: Any) -> pa.Table:
        """The rows of ``source`` recoded in the same way and checked again, ready to be published."""
