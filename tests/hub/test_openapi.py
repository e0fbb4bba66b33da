"""The description holds: whatever schemathesis makes from it is answered as it says, and never with a 500."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance
from tests.hub.running_hub import RunningHub, running_hub
from tests.waiting import PATIENCE

from bascule.hub.api.openapi import describe
from bascule.hub.operation_table import operation_table

DESCRIPTION = describe(operation_table())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    """A hub on a loop of its own, because schemathesis calls from plain functions."""
    folder: Path = tmp_path_factory.mktemp("served")
    ready, done = threading.Event(), threading.Event()
    worlds: list[RunningHub] = []

    async def serve() -> None:
        async with running_hub(folder) as hub:
            await hub.session("s1")
            await hub.ask_permission("s1")
            worlds.append(hub)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="served")
    thread.start()
    assert ready.wait(PATIENCE)
    yield worlds[0]
    done.set()
    thread.join(PATIENCE)


schema = schemathesis.openapi.from_dict(DESCRIPTION)
EXAMPLES = settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@pytest.mark.row("X12")
@schema.exclude(path_regex="/stream$|^/$|style.css").parametrize()
@EXAMPLES
def test_every_route_answers_as_described(case: schemathesis.Case, served: RunningHub) -> None:
    if "id" in case.path_parameters and "sessions" in case.path:
        case.path_parameters["id"] = "s1"
    headers = {"authorization": f"Bearer {served.tokens['owner']}"}
    answer = case.call(base_url=served.url, headers=headers, timeout=PATIENCE)
    if answer.status_code != 431:  # a target too long for any route never reaches one
        case.validate_response(answer, checks=[not_a_server_error, response_schema_conformance])
