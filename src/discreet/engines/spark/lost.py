"""What the owner hears when a part of Spark was lost in the middle of a question: a sentence instead of a page."""

from __future__ import annotations

import re

from discreet.errors import StoreError

__all__ = ["in_a_sentence"]

_EXECUTOR = re.compile(r"ExecutorLostFailure \(executor \S+ exited")


def in_a_sentence(failure: Exception) -> Exception:
    """The sentence, or the failure itself where nothing was lost."""
    if isinstance(failure, ConnectionError) or type(failure).__name__ == "Py4JNetworkError":
        rule = "Java must run for as long as the Spark of this process is asked"
        return StoreError(rule, "<ended>", "start this process again")
    status = getattr(failure, "getGrpcStatusCode", lambda: None)()
    if getattr(status, "name", None) == "UNAVAILABLE":
        rule = "the server of Spark Connect must be reachable"
        return StoreError(rule, "<lost in the middle of a question>", "lift the suspension once it is back")
    if _EXECUTOR.search(str(failure)):
        rule = "Spark must keep its executors until a question is answered"
        return StoreError(rule, "<lost more often than Spark tries>", "lift the suspension once they are back")
    return failure
