"""A launch request: the JSON body of `POST /launch`, validated."""

from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from bascule.launch.errors import LaunchError
from bascule.launch.repos import NAME
from bascule.policy.directories import problem_with

MAX_PROMPT = 1_048_576  # characters
MAX_AGENT = 40
MAX_KEY = 200

Mode = Literal["plan", "normal", "prefill"]
MODES: tuple[Mode, ...] = get_args(Mode)

_objects = msgspec.json.Decoder(dict[str, Any])


class LaunchRequest(Struct, frozen=True, kw_only=True):
    """`mode` and `agent` are None where the request leaves the choice to the bridge."""

    prompt: str
    mode: Mode | None = None
    agent: str | None = None
    working_directory: str | None = None
    repo: str | None = None  # `owner/name`, instead of a folder


def parse_body(body: bytes) -> LaunchRequest:
    """The request in a body. Fields that the bridge does not know are ignored, as its schema allows."""
    return request_of(fields_of(body))


def fields_of(body: bytes) -> dict[str, Any]:
    try:
        return _objects.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise LaunchError("invalid_json", "Invalid request format: the body must be a JSON object.") from None


def request_of(fields: dict[str, Any]) -> LaunchRequest:
    if fields.get("repo") is not None and fields.get("workingDirectory") is not None:
        raise LaunchError("invalid_request", "Name a workingDirectory or a repo, not both.")
    return LaunchRequest(
        prompt=_prompt(fields.get("prompt")),
        mode=_mode(fields.get("mode")),
        agent=_agent(fields.get("agent")),
        working_directory=_directory(fields.get("workingDirectory")),
        repo=_repo(fields.get("repo")),
    )


def repo_of(fields: dict[str, Any]) -> str:
    repo = _repo(fields.get("repo"))
    if repo is None:
        raise LaunchError("invalid_request", "Name a repo.")
    return repo


def check_key(key: str | None) -> str | None:
    """The idempotency key of one click."""
    if key is not None and (not 0 < len(key) <= MAX_KEY or not key.isprintable()):
        raise LaunchError("invalid_request", f"Idempotency-Key has 1 to {MAX_KEY} printable characters.")
    return key


def _prompt(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise LaunchError("prompt_required", "No prompt content to launch: send a text as prompt.")
    if len(value) > MAX_PROMPT:
        words = f"Prompt exceeds maximum size: {len(value):,} characters; at most {MAX_PROMPT:,} fit."
        raise LaunchError("prompt_too_large", words, length=len(value), limit=MAX_PROMPT)
    try:
        value.encode()
    except UnicodeEncodeError:
        message = "The prompt is not valid Unicode: it holds a lone surrogate."
        raise LaunchError("invalid_prompt", message) from None
    if (place := value.find("\0")) >= 0:
        words = f"The prompt has a NUL character in place {place + 1:,}; no program can be given one."
        raise LaunchError("invalid_prompt", words)
    return value


def _mode(value: object) -> Mode | None:
    if value is None:
        return None
    if value not in MODES:
        raise LaunchError("invalid_mode", f"The mode must be one of: {', '.join(MODES)}.")
    return value


def _agent(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= MAX_AGENT:
        raise LaunchError("invalid_agent", f"The agent is a name of 1 to {MAX_AGENT} characters.")
    return value


def _repo(value: object) -> str | None:
    if value is not None and not (isinstance(value, str) and NAME.fullmatch(value)):
        raise LaunchError("invalid_request", "The repo is named as owner/name.")
    return value


def _directory(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise LaunchError("invalid_working_directory", "The working directory must be a text.")
    problem = problem_with(value)
    if problem is not None:
        raise LaunchError("invalid_working_directory", problem)
    return value
