"""The machine: requests that wait, agents, devices, folders, settings, trust, pause and the panic button."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from bascule.api.bodies import DeviceNamed, DeviceRename, DirectoryQuery
from bascule.api.folder_answers import Directories
from bascule.api.machine_answers import (
    Capabilities,
    DaemonStatus,
    DeviceList,
    DeviceOutcome,
    DeviceStatus,
    DevicesTold,
    EndedEverywhere,
)
from bascule.api.request_answers import RequestList
from bascule.api.server_answers import SettingsView
from bascule.hub.api.answers import waiting_answer
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.hub.devices.line_refusals import NO_DEVICE
from bascule.hub.devices.orders import Order
from bascule.hub.live.restored import restored_view
from bascule.hub.views import request_view
from bascule.link.files import ListFolders
from bascule.link.machine import (
    AgentList,
    CheckDirectory,
    EndAll,
    ListAgents,
    ListConversations,
    ListTrusted,
    PauseDevice,
    ReadSettings,
    TrustFolder,
)
from bascule.model.commands import Done
from bascule.model.errors import DeviceOffline, InvalidInput
from bascule.model.settings import Limits, TerminalSettings

S = TypeVar("S", bound=msgspec.Struct)


async def open_requests(call: AnyCall) -> RequestList:
    """The inbox: what waits for a person, oldest first."""
    feed = call.hub.feed
    requests = await feed.store.open_requests()
    records = {sid: await feed.records.get(sid) for sid in {request.session_id for request in requests}}
    titles = {sid: record.title if record else "" for sid, record in records.items()}
    return RequestList(
        requests=[
            request_view(
                request,
                titles[request.session_id],
                waiting_answer(call.hub, request.session_id, request.request_id),
            )
            for request in requests
        ]
    )


async def agents(call: Call[ListAgents]) -> AgentList:
    """The agents of a device; without one, those of every device that is online, each name once."""
    board = call.hub.switchboard
    await board.met()
    online = [device.device for device in board.devices() if device.online]
    if call.device or not online:
        return await board.ask(board.device(call.device), call.body, call.by)
    asked = (board.ask(device, call.body, call.by) for device in online)
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    answers = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    if not answers:
        raise next(outcome for outcome in outcomes if isinstance(outcome, BaseException))
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
        restored=restored_view(call.hub),
    )


async def directory(call: Call[DirectoryQuery]) -> Directories:
    query = call.body
    if query.path is not None and query.prefix is None:
        checked = await call.ask(CheckDirectory(path=query.path))
        return Directories(path=checked.path, files=checked.files)
    if query.prefix is not None and query.path is None:
        found = await call.ask(ListFolders(prefix=query.prefix, limit=query.limit))
        return Directories(directories=found.directories, cut=found.cut)
    raise InvalidInput("Give either path or prefix.")


async def settings(call: AnyCall) -> SettingsView:
    """Of the machine that is named, or of the one this hub runs on."""
    board, chosen = call.hub.switchboard, call.hub.settings
    if call.device is not None and board.device(call.device) != board.this:
        there = await call.ask(ReadSettings())
        return SettingsView(
            limits=known_fields(Limits, there.limits),
            terminal=known_fields(TerminalSettings, there.terminal),
            roots=list(there.roots),
            config_file=there.config_file,
        )
    return SettingsView(
        limits=call.hub.limits.now,
        terminal=chosen.terminal,
        roots=list(chosen.roots) or [os.path.expanduser("~")],
        config_file=os.path.join(chosen.config_dir, "config.toml"),
    )


def known_fields(kind: type[S], given: Mapping[str, Any]) -> S:
    """Settings of another version: what both know."""
    known = {name: given[name] for name in kind.__struct_fields__ if name in given}
    return msgspec.convert(known, kind)


async def end_all(call: AnyCall) -> EndedEverywhere:
    """The panic button, of one machine or of all. Those that are away stop when they are back."""
    outcomes = await _order(call, EndAll())
    return EndedEverywhere(ended=sum(outcome.ended for outcome in outcomes), devices=outcomes)


async def pause(call: AnyCall) -> DevicesTold:
    return DevicesTold(devices=await _order(call, PauseDevice(paused=True)))


async def resume(call: AnyCall) -> DevicesTold:
    return DevicesTold(devices=await _order(call, PauseDevice(paused=False)))


async def _order(call: AnyCall, order: Order) -> list[DeviceOutcome]:
    board = call.hub.switchboard
    await board.met()
    every = [device.device for device in board.devices()]
    if not every:
        raise DeviceOffline(NO_DEVICE)
    named = every if call.device is None else [board.device(call.device)]
    return await board.orders.give(order, call.by, named)


async def rename_device(call: Call[DeviceRename]) -> DeviceStatus:
    return await call.hub.switchboard.rename(call.body.device_id, call.body.name, call.by)


async def forget_device(call: Call[DeviceNamed]) -> Done:
    await call.hub.switchboard.forget(call.body.device_id, call.by)
    call.hub.answers.forget(call.body.device_id)
    return Done()


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
        name="device:rename",
        method="POST",
        path="/api/devices/{device_id}",
        need="owner",
        body=DeviceRename,
        answer=DeviceStatus,
        answer_key="device",
        run=rename_device,
        summary="Rename a device; an empty name restores its own",
    ),
    Operation(
        name="device:forget",
        method="DELETE",
        path="/api/devices/{device_id}",
        need="owner",
        body=DeviceNamed,
        answer=Done,
        run=forget_device,
        summary="Remove a device that is away from the list; its sessions stay",
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
        summary="Get the limits and folders of this machine, or of another",
    ),
    Operation(
        name="kill-all",
        method="POST",
        path="/api/kill-all",
        need="owner",
        answer=EndedEverywhere,
        run=end_all,
        for_device=True,
        summary="Stop every agent on every device, or on one; those that are away stop when they are back",
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
        summary="Pause all devices, or one: they accept no new sessions",
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
