"""Why a launch was refused or failed: the bridge's error codes, each with its HTTP status."""

from typing import ClassVar

from bascule.model.errors import BasculeError, Refusal

STATUS: dict[str, int] = {
    "origin_forbidden": 403,
    "host_forbidden": 421,
    "invalid_json": 400,
    "invalid_request": 400,
    "unsupported_media_type": 415,
    "prompt_required": 400,
    "prompt_too_large": 413,
    "invalid_prompt": 400,
    "invalid_mode": 400,
    "invalid_agent": 400,
    "invalid_working_directory": 400,
    "repo_not_found": 404,
    "key_reused": 409,
    "too_many_launches": 429,
    "not_found": 404,
    "method_not_allowed": 405,
    "temp_file_failed": 500,
    "terminal_spawn_failed": 500,
    "no_terminal_found": 500,
    "agent_not_found": 500,
    "agent_start_failed": 500,
    "internal_error": 500,
}


class LaunchError(BasculeError):
    """`error` is the bridge's own code; the message is for people and names no path they did not send."""

    code: ClassVar[str] = "LAUNCH_FAILED"

    def __init__(self, error: str, message: str, **details: str | int | None) -> None:
        super().__init__(message, **details)
        self.error = error

    def refusal(self) -> Refusal:
        """In the form of Bascule's own API."""
        code = {400: "INVALID_INPUT", 404: "NOT_FOUND"}.get(self.status, self.code)
        return Refusal(code, self.message, self.fields)

    @property
    def status(self) -> int:
        return STATUS[self.error]
