"""A hub and a laptop in networks of their own, joined by a cable that can be pulled or made slow."""

from contextlib import AsyncExitStack
from pathlib import Path

from tests.live import LIMITS
from tests.machines.machines import Hub, Machine
from tests.machines.networks import PORT, Network, Place

NOISE = 100  # megabytes that the agent `noise` answers with


class Rig:
    """A hub and a laptop, each in a network of its own."""

    hub: Hub
    laptop: Machine
    there: Place  # where the laptop is

    def __init__(self, folder: Path, net: Network, closing: AsyncExitStack) -> None:
        self._folder, self.net, self._closing = folder, net, closing

    async def begin(self) -> None:
        at, door, folder = await self._prepared("hub", None)
        config = f'host = "{at.address}"\ninsecure_bind = true\nallowed_hosts = ["{door}"]\n{LIMITS}'
        self.hub = Hub(folder, config=config, under=at.enter)
        self.address = self.hub.url = f"http://{at.address}:{PORT}"
        await self._closing.enter_async_context(self.hub)
        self.hub.url = f"http://{door}"
        self.laptop, self.there = await self.machine("laptop")
        await self.laptop.join(self.hub, self.address)
        await self.run(self.laptop)
        await self.hub.until_device("d-laptop", online=True)

    async def machine(self, name: str) -> tuple[Machine, Place]:
        at, door, folder = await self._prepared(name, "127.0.0.1")
        config = f'insecure_hub = true\nallowed_hosts = ["{door}"]\n{LIMITS}'
        made = Machine(folder, "d-laptop", config=config, under=at.enter)
        made.env["DOOR"] = door
        made.env["SHELL"] = "/bin/sh"
        made.add_agent("noise", "noise.py", str(NOISE))
        return made, at

    async def run(self, machine: Machine) -> None:
        machine.url = f"http://127.0.0.1:{PORT}"
        await self._closing.enter_async_context(machine)
        machine.url = f"http://{machine.env['DOOR']}"

    async def _prepared(self, name: str, host: str | None) -> tuple[Place, str, Path]:
        folder = self._folder / name[0]
        folder.mkdir(mode=0o700)
        at = await self.net.place(name)
        return at, await self.net.door(at, host or at.address), folder
