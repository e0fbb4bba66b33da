"""What may come with a message, and what may not."""

import base64
import io
import zipfile

import pytest

from bascule.model.events import Image
from bascule.policy.attachments import MAX_IMAGE_BYTES, MAX_IMAGES, objection

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
GOOD = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(16),
    "image/gif": b"GIF89a" + bytes(16),
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 " + bytes(8),
}


def image(media_type: str, data: bytes) -> Image:
    return Image(media_type, base64.b64encode(data).decode())


def archive() -> bytes:
    """Names that climb, a link, and a thousandfold of zeroes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("../../escape", "x")
        made.writestr("big", bytes(4_000_000))
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    return packed.getvalue()


@pytest.mark.parametrize("media_type", GOOD)
def test_pictures_of_four_kinds_may_come(media_type: str) -> None:
    assert objection([image(media_type, GOOD[media_type])]) is None


@pytest.mark.row("S32")
@pytest.mark.parametrize("media_type", [*GOOD, "application/zip", "image/svg+xml", "text/html", "", "../png"])
def test_an_archive_is_refused_whatever_it_is_called(media_type: str) -> None:
    assert objection([image(media_type, archive())])


@pytest.mark.row("S32")
@pytest.mark.parametrize(
    "data", ["", "not base64", "aGk", "aGk=\n", "aGk=\x00", "é", "../../escape", "data:image/png;base64,aGk="]
)
def test_what_is_not_a_picture_is_refused(data: str) -> None:
    assert objection([Image("image/png", data)])


@pytest.mark.row("S32")
def test_one_kind_is_not_taken_for_another() -> None:
    assert objection([image("image/webp", b"RIFF\x10\x00\x00\x00WAVEfmt ")])
    assert objection([image("image/jpeg", PNG)])


@pytest.mark.row("S32")
def test_number_and_size_are_bounded() -> None:
    one = image("image/png", PNG)
    assert objection([one] * MAX_IMAGES) is None
    assert "at most" in (objection([one] * (MAX_IMAGES + 1)) or "")
    assert "larger" in (objection([image("image/png", PNG + bytes(MAX_IMAGE_BYTES))]) or "")
