"""Notifications: channels and their health, quiet hours, a browser's own subscription, denying from one."""

import time

from msgspec.structs import asdict, replace

from bascule.api.notifications import (
    ActiveBody,
    ChannelAdd,
    ChannelChange,
    ChannelNamed,
    ChannelTested,
    ChannelView,
    DenyBody,
    NotificationsView,
    NotifyOptions,
    PushSubscribe,
)
from bascule.hub.api.channel_folders import folders_given, folders_shown
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.calls.session_lookup import require_session
from bascule.hub.door.roles import Forbidden, allows
from bascule.hub.notifier_parts import may_deny
from bascule.hub.services import Hub
from bascule.hub.wire.intake import header
from bascule.model.codec import timestamp
from bascule.model.commands import Actor, AnswerPermission, Done
from bascule.model.errors import BasculeError, InvalidInput
from bascule.notify import web_push
from bascule.notify.book import new_id
from bascule.notify.channel_queue import Failure
from bascule.notify.channels import Channel, check_web_channel
from bascule.notify.delivery import DENY_PATH, is_push_service
from bascule.notify.deny_tokens import DenyTokenInvalid, read_token
from bascule.notify.notice import Notice
from bascule.notify.quiet_hours import checked
from bascule.store.base import AuditRecord

ROOT = "/api/notifications"
ONE = ROOT + "/channels/{channel_id}"


async def show(call: AnyCall) -> NotificationsView:
    return _view(call)


async def set_options(call: Call[NotifyOptions]) -> NotificationsView:
    body = call.body
    quiet = checked(body.quiet_start, body.quiet_end)
    call.hub.notifier.book.set_options(quiet, body.finished_minutes)
    hours = f"{quiet.start} to {quiet.end}" if quiet else "none"
    return await _changed(call, f"quiet hours {hours}, turns from {body.finished_minutes} minutes")


async def add(call: Call[ChannelAdd]) -> NotificationsView:
    given = asdict(call.body)
    given["projects"] = folders_given(call.hub.switchboard, call.body.projects)
    channel = Channel(id=new_id(), type=given.pop("service"), grant_id=call.by.grant_id, **given)
    check_web_channel(channel)
    call.hub.notifier.book.put(channel)
    return await _changed(call, f"added {channel.type} {channel.name} at {channel.host}")


async def change(call: Call[ChannelChange]) -> NotificationsView:
    """Of one's own browser, or by the owner."""
    channel = _own(call, call.body.channel_id)
    given = {name: value for name, value in asdict(call.body).items() if value is not None}
    given.pop("channel_id")
    if call.body.projects is not None:
        given["projects"] = folders_given(call.hub.switchboard, call.body.projects)
    call.hub.notifier.book.put(replace(channel, **given))
    return await _changed(call, f"changed {channel.type} {channel.name}: {', '.join(given)}")


async def remove(call: Call[ChannelNamed]) -> NotificationsView:
    channel = _own(call, call.body.channel_id)
    if channel.type in ("command", "desktop"):
        raise InvalidInput("It belongs to this machine: switch it off instead.")
    call.hub.notifier.book.remove(channel.id)
    call.hub.notifier.forget(channel.id)
    return await _changed(call, f"removed {channel.type} {channel.name}")


async def test(call: Call[ChannelNamed]) -> ChannelTested:
    channel = _own(call, call.body.channel_id)
    notice = Notice(
        tag="test",
        kind="finished",
        title="A test from Bascule",
        body="Notifications reach you here.",
        at=timestamp(call.hub.clock()),
        path="/settings/notifications",
    )
    try:
        return ChannelTested(ok=True, message=await call.hub.notifier.test(channel, notice))
    except Failure as failure:
        return ChannelTested(ok=False, message=failure.words)


async def subscribe(call: Call[PushSubscribe]) -> NotificationsView:
    """One a grant: a browser that subscribes again replaces what it had."""
    hub, body, grant = call.hub, call.body, call.holder
    web_push.check_keys(body.p256dh, body.auth)
    if not is_push_service(body.endpoint, hub.settings.notify.push_hosts):
        raise InvalidInput("This browser's push service is none of notify.push_hosts; the owner can add it.")
    book = hub.notifier.book
    known = _of_grant(hub, grant.id)
    fresh = known or Channel(id=new_id(), type="push", name=grant.name, grant_id=grant.id)
    keys = {"url": body.endpoint, "p256dh": body.p256dh, "auth": body.auth, "origin": _origin(call)}
    book.put(replace(fresh, name=grant.name, enabled=True, **keys))
    return await _changed(call, f"this browser subscribed to {fresh.host or 'push'}")


async def active(call: Call[ActiveBody]) -> Done:
    """Somebody is at the page: what waits is seen there."""
    call.hub.notifier.present.say(call.subscriber, active=call.body.active)
    return Done()


async def deny(call: Call[DenyBody]) -> Done:
    """Deny exactly the request that the token is for. It does nothing else."""
    hub = call.hub
    claims = read_token(hub.notifier.book.deny_key, call.body.token)
    channel = hub.notifier.book.find(claims.channel_id)
    if not channel.enabled or not may_deny(hub.grants, channel):
        raise DenyTokenInvalid("This channel can no longer deny requests. Open the session and answer there.")
    record = await require_session(hub, claims.session_id)
    by = Actor(f"{channel.name} (notification)", channel.grant_id, call.by.address, call.by.user_agent)
    command = AnswerPermission(
        session_id=claims.session_id,
        request_id=claims.request_id,
        decision="deny",
        input_sha256=claims.input_sha256,
    )
    await hub.switchboard.met()
    await hub.answers.give(hub.switchboard.device_of(record.device), command, by, None)
    return Done()


def _own(call: AnyCall, channel_id: str) -> Channel:
    channel = call.hub.notifier.book.find(channel_id)
    mine = channel.type == "push" and channel.grant_id == call.holder.id
    if not mine and not allows(call.holder, "owner"):
        raise Forbidden("Only the owner may do this to a channel that is not this browser's own.")
    return channel


def _of_grant(hub: Hub, grant_id: str) -> Channel | None:
    pushes = (channel for channel in hub.notifier.book.channels() if channel.type == "push")
    return next((push for push in pushes if push.grant_id == grant_id), None)


def _origin(call: AnyCall) -> str:
    """Of the page that asks; it was checked at the door."""
    origin = header(call.scope["headers"], b"origin")
    return origin if origin else call.hub.doors.url


async def _changed(call: AnyCall, words: str) -> NotificationsView:
    await call.hub.store.audit([AuditRecord.of(call.by, "mode", detail=f"notifications: {words}")])
    return _view(call)


def _view(call: AnyCall) -> NotificationsView:
    """An owner sees every channel; everybody else their own browser's."""
    hub, grant = call.hub, call.holder
    channels = [
        _channel_view(hub, channel, mine=channel.type == "push" and channel.grant_id == grant.id)
        for channel in hub.notifier.book.channels()
        if allows(grant, "owner") or (channel.type == "push" and channel.grant_id == grant.id)
    ]
    own, choices = _of_grant(hub, grant.id), hub.notifier.book.now
    key, problem = _push_key(hub)
    return NotificationsView(
        channels=channels,
        quiet_start=choices.quiet.start,
        quiet_end=choices.quiet.end,
        finished_minutes=choices.finished_minutes,
        time_zone=time.strftime("%Z"),
        push_key=key,
        push_problem=problem,
        own_channel=own.id if own else None,
    )


def _push_key(hub: Hub) -> tuple[str, str]:
    try:
        return hub.notifier.sender.push_key, ""
    except BasculeError as error:
        return "", error.message


def _channel_view(hub: Hub, channel: Channel, *, mine: bool) -> ChannelView:
    health, waiting = hub.notifier.health(channel.id)
    times = {
        name: None if value is None else timestamp(value)
        for name, value in asdict(health).items()
        if name.endswith("_at")
    }
    return ChannelView(
        id=channel.id,
        type=channel.type,
        name=channel.name,
        host=channel.host,
        enabled=channel.enabled,
        kinds=channel.kinds,
        projects=folders_shown(hub.switchboard, channel.projects),
        show_commands=channel.show_commands,
        mine=mine,
        has_secret=bool(channel.secret),
        problem=health.problem,
        waiting=waiting,
        given_up=health.given_up,
        **times,
    )


OPERATIONS = (
    Operation(
        name="notifications:show",
        method="GET",
        path=ROOT,
        need="viewer",
        answer=NotificationsView,
        run=show,
        summary="Get notification channels with their health, and quiet hours",
    ),
    Operation(
        name="notifications:set",
        method="POST",
        path=ROOT,
        need="owner",
        body=NotifyOptions,
        answer=NotificationsView,
        run=set_options,
        summary="Set quiet hours, and how long a turn must take for its end to be announced",
    ),
    Operation(
        name="notifications:add",
        method="POST",
        path=ROOT + "/channels",
        need="owner",
        body=ChannelAdd,
        answer=NotificationsView,
        run=add,
        summary="Add a webhook, ntfy, Slack, Discord, Telegram or Gotify channel",
    ),
    Operation(
        name="notifications:change",
        method="POST",
        path=ONE,
        need="viewer",
        body=ChannelChange,
        answer=NotificationsView,
        run=change,
        summary="Change what is sent to a channel",
    ),
    Operation(
        name="notifications:remove",
        method="DELETE",
        path=ONE,
        need="viewer",
        body=ChannelNamed,
        answer=NotificationsView,
        run=remove,
        summary="Remove a channel",
    ),
    Operation(
        name="notifications:test",
        method="POST",
        path=ONE + "/test",
        need="viewer",
        body=ChannelNamed,
        answer=ChannelTested,
        run=test,
        summary="Send a test message to a channel, and get what the other side answered",
    ),
    Operation(
        name="notifications:subscribe",
        method="POST",
        path=ROOT + "/push",
        need="viewer",
        body=PushSubscribe,
        answer=NotificationsView,
        run=subscribe,
        summary="Subscribe this browser to web push",
    ),
    Operation(
        name="notifications:active",
        need="viewer",
        body=ActiveBody,
        answer=Done,
        run=active,
        summary="Report that somebody is at the page, or has left it",
    ),
    Operation(
        method="POST",
        path=DENY_PATH,
        need="public",
        body=DenyBody,
        answer=Done,
        run=deny,
        summary="Deny the request that a notification's token is for",
    ),
)
