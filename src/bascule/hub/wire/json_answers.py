"""JSON responses: one shape for every error, and the table from error code to HTTP status."""

from bascule.hub.wire.response import Response
from bascule.model.codec import encode
from bascule.model.errors import BasculeError, Field, Refusal

STATUS: dict[str, int] = {
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "BODY_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "SESSION_NOT_FOUND": 404,
    "REQUEST_NOT_FOUND": 404,
    "PROMPT_NOT_FOUND": 404,
    "GRANT_NOT_FOUND": 404,
    "PAIRING_NOT_FOUND": 404,
    "LINK_NOT_FOUND": 404,
    "LINK_USED": 410,
    "LINK_EXPIRED": 410,
    "SAVED_PROMPT_NOT_FOUND": 404,
    "PROMPT_CHANGED": 409,
    "PROJECT_NOT_FOUND": 404,
    "DEVICE_NOT_FOUND": 404,
    "CHANNEL_NOT_FOUND": 404,
    "RULE_NOT_FOUND": 404,
    "PROCESS_NOT_FOUND": 404,
    "COMPARISON_NOT_FOUND": 404,
    "KEEP_CONFLICT": 409,
    "GIT_REFUSED": 409,
    "PROJECT_PATH_INVALID": 400,
    "PROJECT_DUPLICATE": 409,
    "FILE_NOT_FOUND": 404,
    "FILE_FORBIDDEN": 403,
    "UNKNOWN_OPTION": 400,
    "LINE_TOO_LONG": 400,
    "UNKNOWN_AGENT": 400,
    "NOT_SUPPORTED": 400,
    "ALREADY_ANSWERED": 409,
    "ANSWER_NOT_FOUND": 404,
    "ANSWER_NOT_WAITING": 409,
    "INPUT_MISMATCH": 409,
    "KEY_REUSED": 409,
    "START_REFUSED": 403,
    "OWNER_NEEDED": 403,
    "APPROVAL_PENDING": 409,
    "START_NOT_WAITING": 410,
    "SESSION_ENDED": 409,
    "OPEN_IN_TERMINAL": 409,
    "REQUEST_WITHDRAWN": 410,
    "SESSION_GONE": 410,
    "LAUNCH_FAILED": 503,
    "LIMIT_REACHED": 429,
    "TOO_MANY_ATTEMPTS": 429,
    "STORAGE_FULL": 507,
    "STORAGE_FAILED": 507,
    "DEVICE_OFFLINE": 503,
}


def status_of(code: str) -> int:
    if code.startswith("INVALID_"):
        return 400
    if code.startswith("AGENT_"):
        return 503
    return STATUS.get(code, 500)


class JsonAnswer(Response):
    media_type = "application/json"

    def __init__(
        self, body: bytes | object, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        data = body if isinstance(body, bytes) else encode(body)
        super().__init__(data, status, headers)


def error_object(refusal: Refusal) -> dict[str, Field]:
    fields = {_camel(name): value for name, value in refusal.fields.items()}
    return {**fields, "code": refusal.code, "message": refusal.message}


def error_answer(error: BasculeError | Refusal, headers: dict[str, str] | None = None) -> JsonAnswer:
    refusal = error if isinstance(error, Refusal) else error.refusal()
    return JsonAnswer({"error": error_object(refusal)}, status_of(refusal.code), headers)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
