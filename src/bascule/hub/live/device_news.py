"""News of devices and their agents, for everybody who looks."""

from bascule.api.pushes import DevicesChanged, Problem
from bascule.hub.services import Hub
from bascule.hub.wire.json_answers import error_object
from bascule.link.frames import AgentProblem, AgentStatus
from bascule.model.codec import encode


def tell_devices(hub: Hub) -> None:
    """The list of devices has changed."""
    if hub.feed.listeners:
        hub.feed.notify(None, encode(DevicesChanged(devices=hub.switchboard.devices())))


def tell_news(hub: Hub, device: str, news: AgentStatus | AgentProblem) -> None:
    """An agent's state, or what went wrong with it, to everybody who looks."""
    if not hub.feed.listeners:
        return
    if isinstance(news, AgentProblem):
        problem = Problem(session_id=news.session_id, error=error_object(news.refusal))
        hub.feed.notify(news.session_id, encode(problem))
        return
    changed = DevicesChanged(
        devices=hub.switchboard.devices(),
        device=device,
        agent=news.agent,
        cli_type=news.agent,
        status=news.status,
        message=news.message,
    )
    hub.feed.notify(None, encode(changed))
