"""Terminals of another machine, seen and typed into at the hub."""

import pytest
from tests.machines.machines import Hub, Machine
from tests.terminal.test_terminal_viewers import ASKER, ask
from tests.terminal.viewing import terminal, viewing

pytestmark = pytest.mark.anyio


async def shell(hub: Hub, laptop: Machine) -> str:
    return await terminal(hub, cwd=str(laptop.work), device="d-laptop")


@pytest.mark.row("P7")
async def test_a_shell_on_another_machine_is_typed_into_and_ends_with_its_code(
    hub: Hub, laptop: Machine
) -> None:
    session = await shell(hub, laptop)
    async with viewing(hub, session) as viewer:
        await viewer.type("echo he''llo\r")
        await viewer.shows(b"hello")
        await viewer.type("exit 3\r")
        ended = await viewer.hears("ended")
        assert ended.code == 3


async def test_viewers_at_the_hub_and_at_the_machine_share_one_size(hub: Hub, laptop: Machine) -> None:
    session = await shell(hub, laptop)
    async with viewing(hub, session) as far, viewing(laptop, session) as near:
        await far.line.resize(120, 40)
        await far.until(lambda one: (one.said[-1].cols, one.said[-1].rows) == (120, 40))
        await near.line.resize(90, 50)
        await far.until(lambda one: (one.said[-1].cols, one.said[-1].rows) == (90, 40))
        await near.type("stty size\r")
        await far.shows(b"40 90")


async def test_a_flood_arrives_whole_at_the_hub(hub: Hub, laptop: Machine) -> None:
    session = await shell(hub, laptop)
    async with viewing(hub, session, acks=True, lag=0) as viewer:
        await viewer.type("seq 1 200000; echo o''ver\r")
        await viewer.shows(b"over")
        lines = bytes(viewer.data).replace(b"\r", b"").split(b"\n")
        numbers = [int(line) for line in lines if line.isdigit()]
        assert numbers == list(range(1, 200001))


@pytest.mark.row("P7")
async def test_viewers_go_on_with_the_same_bytes_after_the_hub_was_killed(hub: Hub, laptop: Machine) -> None:
    session = await shell(hub, laptop)
    async with viewing(laptop, session) as near:
        async with viewing(hub, session) as one, viewing(hub, session) as other:
            await one.type("echo fi''rst\r")
            for viewer in (near, one, other):
                await viewer.shows(b"first")
            places = [one.next, other.next - 3]  # it had not read all of it
            await hub.kill()
        # More than a hub asks for when it shows a terminal for the first time.
        await near.type("seq 1 60000; echo bet''ween\r")
        await near.shows(b"between")
        await hub.start()
        await hub.until_device("d-laptop", online=True)
        assert near.first is not None
        async with viewing(hub, session) as new:
            await new.shows(b"between")
            for place in places:
                async with viewing(hub, session, after=place) as viewer:
                    await viewer.shows(b"between")
                    assert viewer.first == place
                    seen, all_of_it = bytes(viewer.data), bytes(near.data[place - near.first :])
                    assert seen[: len(all_of_it)] == all_of_it[: len(seen)]


@pytest.mark.row("S54", "REL-38")
async def test_of_three_viewers_at_the_machine_and_at_the_hub_one_answers_each_query(
    hub: Hub, laptop: Machine
) -> None:
    (laptop.work / "asker.py").write_text(ASKER)
    session = await shell(hub, laptop)
    async with (
        viewing(laptop, session) as near,
        viewing(hub, session) as one,
        viewing(hub, session) as two,
    ):
        everybody = (near, one, two)
        for number, asking in enumerate(everybody, 1):
            await asking.line.claim()  # in turn each of them is the one
            await asking.until(lambda viewer: viewer.said[-1].replies)
            await asking.type(ask(r"\033[c\033[6n", "XYZ"))
            for viewer, letter in zip(everybody, "XYZ", strict=True):
                await viewer.shows(b"\x1b[c\x1b[6n", times=number)
                await viewer.type(b"\x1b[?1;2c")
                await viewer.type(b"\x1b[5;7R")
                await viewer.type(letter)
            await near.shows(b"<>over", times=number)
            assert near.data.count(b"got=<1b5b3f313b32631b5b353b3752>") == number
