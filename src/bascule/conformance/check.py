"""Plays one scene against an agent and says whether the agent behaved as the scene promises."""

import asyncio
from typing import Literal, NamedTuple

from bascule.conformance.scenes import SCENES, Stage, Unmet
from bascule.model.errors import BasculeError

SCENE_SECONDS = 180.0

Mark = Literal["ok", "no", "?"]


class Verdict(NamedTuple):
    mark: Mark  # "?": the model may have decided otherwise, so it is nobody's fault
    detail: str


async def check(stage: Stage, name: str) -> Verdict:
    try:
        async with asyncio.timeout(SCENE_SECONDS):
            return Verdict("ok", await SCENES[name](stage))
    except TimeoutError:
        return Verdict("no", f"it took longer than {SCENE_SECONDS:.0f} s")
    except Unmet as error:
        return Verdict("?" if error.unsure else "no", str(error))
    except BasculeError as error:
        return Verdict("no", error.message)
