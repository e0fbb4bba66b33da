"""Every command a hub can send has a handler, and its handler gives the answer the command declares."""

import typing
from pathlib import Path

import pytest
from tests.daemon.running_daemon import running_daemon

from bascule.daemon.handlers import Handlers
from bascule.link.frames import DeviceCommand
from bascule.model.commands import Command, answer_type

COMMANDS: list[type[Command[typing.Any]]] = list(typing.get_args(DeviceCommand))


def test_commands_have_names_of_their_own_on_the_link() -> None:
    tags = [command.__struct_config__.tag for command in COMMANDS]
    assert len(set(tags)) == len(tags) > 40


@pytest.mark.anyio
async def test_every_command_has_a_handler_that_gives_the_declared_answer(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        handlers: Handlers = daemon.host._handlers
        for command in COMMANDS:
            assert command in handlers, f"nobody carries out {command.__name__}"
            run = handlers.of_type(command).run
            given = typing.get_type_hints(run)["return"]
            assert issubclass(answer_type(command), given), f"{run.__qualname__} answers {given}"


def test_a_second_handler_for_a_command_is_refused() -> None:
    async def run(_: object) -> typing.Any: ...

    handlers = Handlers()
    handlers.add(COMMANDS[0], run, reads=True)
    with pytest.raises(ValueError, match="has a handler already"):
        handlers.add(COMMANDS[0], run, reads=True)
