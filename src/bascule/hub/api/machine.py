"""The machine: requests that wait, agents, devices, folders, settings, trust, pause and the panic button."""

import asyncio
import os
from functools import partial
from typing import Any

from bascule.api.answers import (
    Capabilities,
    DaemonStatus,
    DeviceList,
    DeviceOutcome,
    DeviceStatus,
    DevicesTold,
    Directories,
    EndedEverywhere,
    RequestList,
    SettingsView,
)
from bascule.api.bodies import DirectoryQuery
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.forwarding import forwarding
from bascule.hub.api.operation import Operation
from bascule.hub.api.views import request_view
from bascule.link.files import ListFolders
from bascule.link.machine import (
    AgentList,
    CheckDirectory,
    EndAll,
    Ended,
    ListAgents,
    ListConversations,
    ListTrusted,
    PauseDevice,
    TrustFolder,
)
from bascule.model.commands import Command
from bascule.model.errors import BasculeError, InvalidInput, NotSupported


async def open_requests(call: AnyCall) -> RequestList:
    """The inbox: what waits for a person, oldest first."""
    feed = call.hub.feed
    requests = await feed.store.open_requests()
    records = {sid: await feed.records.get(sid) for sid in {request.session_id for request in requests}}
    titles = {sid: record.title if record else "" for sid, record in records.items()}
    return RequestList(requests=[request_view(request, titles[request.session_id]) for request in requests])


async def agents(call: Call[ListAgents]) -> AgentList:
    """The agents of a device; without one, those of every device that is online, each name once."""
    board = call.hub.switchboard
    await board.met()
    online = [device.device for device in board.devices() if device.online]
    named = [board.device(call.device)] if call.device or not online else online
    answers = [await board.ask(device, call.body, call.by) for device in named]
    found = {agent.name: agent for answer in reversed(answers) for agent in answer.agents}
    first = [agent.name for answer in answers for agent in answer.agents]
    return AgentList(agents=tuple(found[name] for name in dict.fromkeys(first)))


async def devices(call: AnyCall) -> DeviceList:
    return DeviceList(devices=call.hub.switchboard.devices())


async def daemon_status(call: AnyCall) -> DaemonStatus:
    every = call.hub.switchboard.devices()
    online = [device for device in every if device.online]
    names = sorted({agent.name for device in online for agent in device.agents if agent.available})
    return DaemonStatus(
        connected=bool(online),
        client_id=online[0].device if online else None,
        capabilities=Capabilities(bool(online), names),
        devices=every,
        storage_problem=call.hub.store.storage_problem,
    )


async def directory(call: Call[DirectoryQuery]) -> Directories:
    query = call.body
    if query.path is not None and query.prefix is None:
        checked = await call.ask(CheckDirectory(path=query.path))
        return Directories(path=checked.path)
    if query.prefix is not None and query.path is None:
        found = await call.ask(ListFolders(prefix=query.prefix, limit=query.limit))
        return Directories(directories=found.directories, cut=found.cut)
    raise InvalidInput("Give either path or prefix.")


async def settings(call: AnyCall) -> SettingsView:
    board, chosen = call.hub.switchboard, call.hub.settings
    if call.device is not None and board.device(call.device) != board.this:
        raise NotSupported("The settings of another machine are shown on that machine.")
    return SettingsView(
        limits=call.hub.limits.now,
        terminal=chosen.terminal,
        roots=list(chosen.roots) or [os.path.expanduser("~")],
        config_file=os.path.join(chosen.config_dir, "config.toml"),
    )


async def end_all(call: AnyCall) -> EndedEverywhere:
    """The panic button, on the device that is named, or on every one that can hear it."""
    outcomes = await _order(call, EndAll())
    return EndedEverywhere(ended=sum(one.ended for one in outcomes), devices=outcomes)


async def pause(call: AnyCall) -> DevicesTold:
    return DevicesTold(devices=await _order(call, PauseDevice(paused=True)))


async def resume(call: AnyCall) -> DevicesTold:
    return DevicesTold(devices=await _order(call, PauseDevice(paused=False)))


async def _order(call: AnyCall, order: Command[Any]) -> list[DeviceOutcome]:
    """To all of them at the same time: one that does not answer delays nobody."""
    board = call.hub.switchboard
    await board.met()
    only = None if call.device is None else board.device(call.device)
    named = [one for one in board.devices() if only in (None, one.device)]
    return list(await asyncio.gather(*(_outcome(call, one, order) for one in named)))


async def _outcome(call: AnyCall, device: DeviceStatus, order: Command[Any]) -> DeviceOutcome:
    made = partial(DeviceOutcome, device=device.device, name=device.name)
    if not device.online:
        return made(outcome="refused", message=f"{device.name} is away.")
    try:
        answer = await call.hub.switchboard.ask(device.device, order, call.by, seconds=60)
    except BasculeError as error:
        return made(outcome="refused", message=error.message)
    return made(outcome="done", ended=answer.ended if isinstance(answer, Ended) else 0)


OPERATIONS = (
    Operation(
        name="requests:list",
        method="GET",
        path="/api/requests",
        need="viewer",
        answer=RequestList,
        run=open_requests,
        summary="List open requests, oldest first",
    ),
    forwarding(
        ListAgents,
        run=agents,
        name="agents:list",
        method="GET",
        path="/api/agents",
        need="viewer",
        summary="List the agents of a machine, or of all machines",
    ),
    forwarding(
        ListConversations,
        name="agents:conversations",
        need="viewer",
        summary="List the conversations that an agent keeps itself",
    ),
    Operation(
        name="device:list",
        need="viewer",
        answer=DeviceList,
        run=devices,
        summary="List devices",
    ),
    Operation(
        method="GET",
        path="/api/daemon/status",
        need="viewer",
        answer=DaemonStatus,
        run=daemon_status,
        summary="Get the state of the devices",
    ),
    Operation(
        name="directories:find",
        method="GET",
        path="/api/directories",
        need="operator",
        body=DirectoryQuery,
        answer=Directories,
        run=directory,
        for_device=True,
        summary="Check a folder (path) or autocomplete one (prefix)",
    ),
    Operation(
        name="settings:show",
        method="GET",
        path="/api/settings",
        need="operator",
        answer=SettingsView,
        run=settings,
        for_device=True,
        summary="Get the server's limits and folders",
    ),
    Operation(
        name="kill-all",
        method="POST",
        path="/api/kill-all",
        need="owner",
        answer=EndedEverywhere,
        run=end_all,
        for_device=True,
        summary="Stop every agent on every device",
    ),
    forwarding(
        ListTrusted,
        name="projects:trusted",
        method="GET",
        path="/api/projects/trusted",
        need="viewer",
        summary="List trusted folders, in which agents' trust prompts are answered with yes",
    ),
    forwarding(
        TrustFolder,
        name="projects:trust",
        method="POST",
        path="/api/projects/trusted",
        need="owner",
        summary="Trust a folder, or stop trusting it",
    ),
    Operation(
        name="daemon:pause",
        method="POST",
        path="/api/daemon/pause",
        need="owner",
        answer=DevicesTold,
        run=pause,
        for_device=True,
        summary="Pause all devices, or one: they take no new sessions",
    ),
    Operation(
        name="daemon:resume",
        method="POST",
        path="/api/daemon/resume",
        need="owner",
        answer=DevicesTold,
        run=resume,
        for_device=True,
        summary="Resume all devices, or one",
    ),
)
