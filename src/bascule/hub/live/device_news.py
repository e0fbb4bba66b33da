"""News of devices and their agents, for everybody who looks."""

from bascule.hub.api.responses import error_object
from bascule.hub.services import Hub
from bascule.link.frames import AgentProblem, AgentStatus
from bascule.model.codec import encode


def tell_devices(hub: Hub) -> None:
    """The list of devices has changed."""
    if hub.feed.listeners:
        message = {"type": "agent:status", "devices": hub.switchboard.devices()}
        hub.feed.notify(None, encode(message))


def tell_news(hub: Hub, device: str, news: AgentStatus | AgentProblem) -> None:
    """An agent's state, or what went wrong with it, to everybody who looks."""
    if not hub.feed.listeners:
        return
    if isinstance(news, AgentProblem):
        problem = {"type": "error", "sessionId": news.session_id, "error": error_object(news.refusal)}
        hub.feed.notify(news.session_id, encode(problem))
        return
    status = {"agent": news.agent, "cliType": news.agent, "status": news.status, "message": news.message}
    status["device"] = device
    hub.feed.notify(None, encode({"type": "agent:status", **status, "devices": hub.switchboard.devices()}))
