"""Checks attached images by their content, not by their name."""

import base64
import binascii
from collections.abc import Sequence

from bascule.model.events import Image

MAX_IMAGES = 20
MAX_IMAGE_BYTES = 10 * 1024 * 1024
# How each kind begins. WebP names itself only after its length.
_BEGINNINGS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


def objection(images: Sequence[Image]) -> str | None:
    """Why these can't be sent, in words for a person; None when they can."""
    if len(images) > MAX_IMAGES:
        return f"A message may carry {MAX_IMAGES} images at most."
    return next((fault for fault in map(_fault, images) if fault), None)


def _fault(image: Image) -> str | None:
    if image.media_type not in _BEGINNINGS:
        return f"Images of type {image.media_type[:40]!r} are not supported."
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return "An image is not valid base64."
    if len(data) > MAX_IMAGE_BYTES:
        return f"An image is larger than {MAX_IMAGE_BYTES // 1024 // 1024} MB. Send a smaller one."
    named = image.media_type != "image/webp" or data[8:12] == b"WEBP"
    if not (data.startswith(_BEGINNINGS[image.media_type]) and named):
        return f"An image is called {image.media_type} but is something else."
    return None
