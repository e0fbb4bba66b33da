"""Plays one scene against an agent and says whether the agent behaved as the scene promises."""

import asyncio
from typing import Literal, NamedTuple

from bascule.conformance.scenes import SCENES, Stage, Unmet
from bascule.model.errors import BasculeError

SCENE_SECONDS = 180.0

Mark = Literal["ok", "no", "?"]


class SceneResult(NamedTuple):
    mark: Mark  # "?": the model may have decided otherwise, so it is nobody's fault
    detail: str


async def check(stage: Stage, name: str) -> SceneResult:
    try:
        async with asyncio.timeout(SCENE_SECONDS):
            return SceneResult("ok", await SCENES[name](stage))
    except TimeoutError:
        return SceneResult("no", f"it took longer than {SCENE_SECONDS:.0f} s")
    except Unmet as error:
        return SceneResult("?" if error.unsure else "no", str(error))
    except BasculeError as error:
        return SceneResult("no", error.message)
