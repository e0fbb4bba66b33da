"""What each socket message is answered with; the work itself is the same code HTTP uses."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from bascule import __version__
from bascule.hub.api import comparisons as comparing
from bascule.hub.api import found, overview, places, sessions, sharing, unlogged
from bascule.hub.api import rules as ruling
from bascule.hub.api import search as finding
from bascule.hub.api.call import AnyCall
from bascule.hub.api.qr import qr_code
from bascule.hub.api.session_commands import act, reconnect
from bascule.hub.api.socket_messages import Message
from bascule.hub.api.views import session_view
from bascule.hub.live.positions import Position, Reason, position_of
from bascule.hub.services import Hub
from bascule.model.codec import timestamp
from bascule.model.records import SessionRecord
from bascule.store.grants import Grant


class Asker(Protocol):
    """The socket that asks."""

    hub: Hub
    call: AnyCall
    grant: Grant

    def watch(self, session_id: str, after: int) -> None: ...
    def resync(self, session_id: str, reason: Reason) -> None: ...
    def unwatch(self, session_id: str) -> None: ...


Answer = Callable[[Asker, Message, Any], Awaitable[object]]


async def answer_to(asker: Asker, message: Message, record: SessionRecord | None) -> object:
    if message.kind.verb is not None:
        assert record is not None
        return await act(asker.hub, message.kind.verb, record, asker.call.by, message.key, message.body)
    return await ANSWERS[message.kind.name](asker, message, record)


async def _list(asker: Asker, message: Message, _: None) -> object:
    return await sessions.session_list(asker.hub, message.body)


async def _create(asker: Asker, message: Message, _: None) -> object:
    return await sessions.create_session(asker.hub, asker.grant, asker.call.by, message.key, message.body)


async def _reconnect(asker: Asker, message: Message, _: None) -> object:
    return await reconnect(asker.hub, asker.call.by, message.key, message.body)


async def _open(asker: Asker, message: Message, record: SessionRecord) -> object:
    """A page of the transcript and where the log stands: subscribe after `seq` and nothing is missing."""
    page = await sessions.entries_page(asker.hub, message.session_id, message.body)
    waiting = await sessions.waiting_prompts(asker.hub, message.session_id)
    return {
        "session": session_view(record),
        "seq": page.seq,
        "epoch": asker.hub.store.epoch,
        "entries": page.entries,
        "before": page.before,
        "after": page.after,
        "queue": waiting.queue,
    }


async def _show(asker: Asker, message: Message, record: SessionRecord) -> object:
    return {"session": session_view(record)}


async def _entries(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await sessions.entries_page(asker.hub, message.session_id, message.body)


async def _events(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await sessions.events_page(asker.hub, message.session_id, message.body)


async def _subscribe(asker: Asker, message: Message, record: SessionRecord) -> object:
    place = position_of(str(message.body.after), "after")
    place = Position(place.seq, message.body.epoch or place.epoch)
    lost = place.lost(asker.hub.store.epoch, record.seq)
    if lost is None:
        asker.watch(message.session_id, place.seq)
    else:
        asker.resync(message.session_id, lost)
    return {"seq": record.seq, "epoch": asker.hub.store.epoch}


async def _unsubscribe(asker: Asker, message: Message, record: SessionRecord) -> object:
    asker.unwatch(message.session_id)
    return {}


async def _typing(asker: Asker, message: Message, record: SessionRecord) -> object:
    asker.hub.presence.types(message.session_id, asker.grant.name, message.body.typing)
    return {}


async def _share(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await sharing.share(asker.hub, asker.call.by, record, message.body)


async def _files(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await places.file_list(asker.hub, record, message.body.path)


async def _file(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await places.file_content(asker.hub, record, message.body.path)


async def _changes(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await places.changes(asker.hub, record)


async def _follow(asker: Asker, message: Message, record: SessionRecord) -> object:
    return await found.follow(asker.hub, record)


async def _found(asker: Asker, message: Message, _: None) -> object:
    return await found.found_list(asker.hub, message.body)


async def _search(asker: Asker, message: Message, _: None) -> object:
    return await finding.find(asker.hub, message.body)


async def _projects(asker: Asker, message: Message, _: None) -> object:
    return await places.project_list(asker.hub)


async def _add_project(asker: Asker, message: Message, _: None) -> object:
    return {"project": await places.add_project(asker.hub, asker.call.by, message.body)}


async def _change_project(asker: Asker, message: Message, _: None) -> object:
    return {"project": await places.change_project(asker.hub, message.body.project_id, message.body)}


async def _remove_project(asker: Asker, message: Message, _: None) -> object:
    await places.remove_project(asker.hub, message.body.project_id)
    return {}


async def _conversations(asker: Asker, message: Message, _: None) -> object:
    return await overview.list_conversations(asker.hub, message.body.agent)


async def _agents(asker: Asker, message: Message, _: None) -> object:
    return await overview.list_agents(asker.hub, refresh=message.body.refresh)


async def _requests(asker: Asker, message: Message, _: None) -> object:
    return await overview.open_requests(asker.hub)


async def _devices(asker: Asker, message: Message, _: None) -> object:
    return overview.device_list(asker.hub)


async def _grants(asker: Asker, message: Message, _: None) -> object:
    return overview.list_grants(asker.hub)


async def _make_grant(asker: Asker, message: Message, _: None) -> object:
    return await overview.make_grant(asker.hub, asker.call.by, message.body)


async def _revoke(asker: Asker, message: Message, _: None) -> object:
    await overview.revoke_grant(asker.hub, asker.call.by, message.body.grant_id)
    return {}


async def _audit(asker: Asker, message: Message, _: None) -> object:
    return await overview.audit_page(asker.hub, message.body.after, message.body.limit)


async def _verify(asker: Asker, message: Message, _: None) -> object:
    return await overview.audit_verdict(asker.hub)


async def _settings(asker: Asker, message: Message, _: None) -> object:
    return overview.settings_view(asker.hub)


async def _qr(asker: Asker, message: Message, _: None) -> object:
    return qr_code(message.body)


async def _kill_all(asker: Asker, message: Message, _: None) -> object:
    return await overview.end_all(asker.hub, asker.call.by)


async def _hello(asker: Asker, message: Message, _: None) -> object:
    """Who the socket's grant says it is, and which Bascule answers."""
    grant, limits = asker.grant, asker.hub.settings.limits
    return {
        "name": grant.name,
        "role": grant.role,
        "sessionId": grant.session_id,
        "grantId": grant.id,
        "madeBy": grant.by,
        "expiresAt": None if grant.expires_at is None else timestamp(grant.expires_at),
        "version": __version__,
        # How long a request waits before it is answered with no.
        "waits": {"permission": limits.permission_seconds, "question": limits.question_seconds},
        "boot": asker.hub.boot,
        "epoch": asker.hub.store.epoch,
    }


async def _pause(asker: Asker, message: Message, _: None) -> object:
    await overview.pause(asker.hub, asker.call.by, paused=True)
    return {}


async def _resume(asker: Asker, message: Message, _: None) -> object:
    await overview.pause(asker.hub, asker.call.by, paused=False)
    return {}


async def _trusted(asker: Asker, message: Message, _: None) -> object:
    return await overview.trusted_folders(asker.hub)


async def _trust(asker: Asker, message: Message, _: None) -> object:
    return await overview.trust_folder(asker.hub, asker.call.by, message.body)


async def _rules(asker: Asker, message: Message, _: None) -> object:
    return await ruling.rule_list(asker.hub)


async def _add_rule(asker: Asker, message: Message, _: None) -> object:
    return {"rule": await ruling.add_rule(asker.hub, asker.call.by, message.body)}


async def _remove_rule(asker: Asker, message: Message, _: None) -> object:
    await ruling.remove_rule(asker.hub, asker.call.by, message.body.rule_id)
    return {}


async def _try_rule(asker: Asker, message: Message, _: None) -> object:
    return await ruling.try_out(asker.hub, message.body)


async def _import_rules(asker: Asker, message: Message, _: None) -> object:
    return await ruling.proposals(asker.hub, message.body.folder)


async def _unlogged(asker: Asker, message: Message, _: None) -> object:
    return await unlogged.unlogged_list(asker.hub)


async def _take_up(asker: Asker, message: Message, _: None) -> object:
    return await unlogged.take_up(asker.hub, asker.call.by, message.body.name)


async def _end_process(asker: Asker, message: Message, _: None) -> object:
    return await unlogged.end_process(asker.hub, asker.call.by, message.body.name)


async def _comparisons(asker: Asker, message: Message, _: None) -> object:
    return await comparing.comparison_list(asker.hub)


async def _compare(asker: Asker, message: Message, _: None) -> object:
    return await comparing.start(asker.hub, asker.grant, asker.call.by, message.key, message.body)


async def _comparison(asker: Asker, message: Message, _: None) -> object:
    return await comparing.comparison(asker.hub, message.body.comparison_id)


async def _contestant(asker: Asker, message: Message, _: None) -> object:
    return await comparing.changes(asker.hub, message.body.comparison_id, message.body.session_id)


async def _keep(asker: Asker, message: Message, _: None) -> object:
    body = message.body
    return await comparing.keep(asker.hub, asker.call.by, body.comparison_id, body.session_id)


async def _remove_trees(asker: Asker, message: Message, _: None) -> object:
    return await comparing.remove(asker.hub, asker.call.by, message.body.comparison_id, message.body)


async def _ping(asker: Asker, message: Message, _: None) -> object:
    return {}


ANSWERS: dict[str, Answer] = {
    "session:list": _list,
    "session:create": _create,
    "session:reconnect": _reconnect,
    "session:open": _open,
    "session:show": _show,
    "session:entries": _entries,
    "session:events": _events,
    "session:subscribe": _subscribe,
    "session:unsubscribe": _unsubscribe,
    "session:typing": _typing,
    "session:share": _share,
    "session:files": _files,
    "session:file": _file,
    "session:changes": _changes,
    "session:follow": _follow,
    "found:list": _found,
    "search": _search,
    "project:list": _projects,
    "project:add": _add_project,
    "project:change": _change_project,
    "project:remove": _remove_project,
    "agents:list": _agents,
    "agents:conversations": _conversations,
    "requests:list": _requests,
    "device:list": _devices,
    "grants:list": _grants,
    "grants:create": _make_grant,
    "grants:revoke": _revoke,
    "audit:list": _audit,
    "audit:verify": _verify,
    "settings:show": _settings,
    "qr": _qr,
    "kill-all": _kill_all,
    "hello": _hello,
    "daemon:pause": _pause,
    "daemon:resume": _resume,
    "projects:trusted": _trusted,
    "projects:trust": _trust,
    "rules:list": _rules,
    "rules:add": _add_rule,
    "rules:remove": _remove_rule,
    "rules:try": _try_rule,
    "rules:import": _import_rules,
    "unlogged:list": _unlogged,
    "unlogged:take-up": _take_up,
    "unlogged:end": _end_process,
    "compare:list": _comparisons,
    "compare:start": _compare,
    "compare:show": _comparison,
    "compare:changes": _contestant,
    "compare:keep": _keep,
    "compare:remove": _remove_trees,
    "ping": _ping,
}
