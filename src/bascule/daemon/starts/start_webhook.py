"""Posts starts from elsewhere to a webhook. Imported with the first such start: few set it up."""

import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import IO


def post(url: str, body: bytes, seconds: float) -> None:
    """Raises `OSError` when it is not taken within so many seconds."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds):
            pass
    except HTTPException as error:  # what answers there does not speak HTTP
        raise OSError(f"no answer that can be read: {error!r}") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The link goes to the address that the owner wrote down, and to no other."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        return None
