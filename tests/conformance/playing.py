"""One scene played, and what became of it."""

import re
import sys
import time
from collections.abc import Awaitable

from tests.conformance.afterwards import end_and_check
from tests.conformance.outcome import Figures, Outcome
from tests.conformance.talk import Broken, Talk


def folder_of(name: str) -> str:
    """A scene's name, fit for a folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


async def played(name: str, talk: Talk, scene: Awaitable[None]) -> Outcome:
    """A fault ends the scene, not the run: the server is there for the next one, and nothing goes on."""
    begun = time.monotonic()
    live = talk.live
    fault, figures = None, Figures()
    try:
        await scene
        figures = await end_and_check(talk)
    except (Broken, TimeoutError, AssertionError, OSError) as error:
        fault = f"{error}" if isinstance(error, Broken) else f"{type(error).__name__}: {error}"
        if live.process is None or live.process.returncode is not None:
            await live.start()
    finally:
        await talk.close()
    if fault is not None and talk.session:
        await live.http.delete(f"/api/sessions/{talk.session}")
    return Outcome(name, time.monotonic() - begun, fault, figures, talk.notes)


def say(outcome: Outcome) -> None:
    word = "ok    " if outcome.fault is None else "FAILED"
    sys.stdout.write(f"{word}  {outcome.seconds:5.1f} s  {outcome.name}\n")
    for line in [*([outcome.fault] if outcome.fault else []), *outcome.notes]:
        sys.stdout.write(f"          {line}\n")
    sys.stdout.flush()
