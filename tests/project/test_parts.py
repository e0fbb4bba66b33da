"""Parts of a test: what a failure reports, and what runs after it."""

import asyncio

import pytest
from tests.parts import parts


class Recorder:
    """Plays pytest's subtests: swallows what a part raises and keeps its name."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.name = ""

    def test(self, name: str) -> "Recorder":
        self.name = name
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is not None:
            self.failed.append(self.name)
        return True


def test_parts_after_one_that_failed_still_run():
    recorder = Recorder()
    part = parts(recorder)  # type: ignore[arg-type]
    reached = False
    with part("first"):
        raise AssertionError
    with part("second"):
        reached = True
    assert (recorder.failed, reached) == (["first"], True)


def test_a_test_that_is_cancelled_ends_inside_its_part():
    part = parts(Recorder())  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError), part("first"):
        raise asyncio.CancelledError
