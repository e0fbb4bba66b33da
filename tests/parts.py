"""Parts of a long test: each failure is reported under its part's name, and the parts after it still run."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

Part = Callable[[str], AbstractContextManager[None]]


def parts(subtests: pytest.Subtests) -> Part:
    @contextmanager
    def part(name: str) -> Iterator[None]:
        cancelled: asyncio.CancelledError | None = None
        with subtests.test(name):
            try:
                yield
            except asyncio.CancelledError as error:
                cancelled = error  # subtests would swallow it, and a test that ran out of time would go on
        if cancelled is not None:
            raise cancelled

    return part
