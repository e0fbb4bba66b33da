"""Carries out an agent's service calls once they are allowed and committed, and sends it the results."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from bascule.drivers.acp.service_calls import HostCall
from bascule.model.errors import BasculeError

Done = Callable[[HostCall, object, str], None]  # the call, its result, or words on why there is none


class Services(Protocol):
    """The services of this machine for an agent. Calls may be repeated after a restart."""

    async def serve(self, session_id: str, cwd: str, call: HostCall) -> object: ...

    async def release(self, session_id: str) -> None:
        """The session is over: nothing of it may go on."""
        ...


class Serving:
    """Tracks one session's service calls while they are carried out."""

    def __init__(self, services: Services, session_id: str, cwd: Callable[[], str], done: Done) -> None:
        self._services = services
        self._session_id = session_id
        self._cwd = cwd
        self._done = done
        self._running: dict[str, asyncio.Task[None]] = {}

    def begin(self, calls: list[HostCall], committed: "asyncio.Future[None]") -> None:
        """Carry out those that are not under way, once what allowed them is durable."""
        for call in calls:
            if call.call_id not in self._running:
                name = f"{call.method} of {self._session_id}"
                task = asyncio.create_task(self._carry_out(call, committed), name=name)
                self._running[call.call_id] = task
                task.add_done_callback(lambda _, one=call.call_id: self._running.pop(one, None))

    async def close(self, *, over: bool) -> None:
        """Stop. `over`: for good, and not only until the next start."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        if over:
            await self._services.release(self._session_id)

    async def _carry_out(self, call: HostCall, committed: "asyncio.Future[None]") -> None:
        await asyncio.wait([committed])
        try:
            result = await self._services.serve(self._session_id, self._cwd(), call)
        except BasculeError as error:
            self._done(call, None, error.message)
        except OSError as error:
            self._done(call, None, f"It could not be done: {error.strerror or error}.")
        else:
            self._done(call, result, "")
