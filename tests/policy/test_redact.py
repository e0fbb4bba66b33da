"""A secret never reaches a log, however it is written there."""

import secrets

import pytest

from bascule.policy.redact import MARK, redact

CANARY = "CanaryCanaryCanary0CanaryCanaryCanary0Canary"


@pytest.mark.row("S17")
@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "{{'authorization': 'Bearer {}'}}",
        "(b'authorization', b'Bearer {}')",
        "bearer   {}",
        "GET /api/sessions/1/stream?token={} HTTP/1.1",
        "GET /ws?after=1&ticket={}&x=1",
        "http://127.0.0.1:3333/#token={}",
        "Referer: http://127.0.0.1:3333/%23token%3D{}",
        '{{"token":"{}"}}',
        '{{"token": "{}", "text": "hi"}}',
        "token: {}",
        "session_token={}",
        "Cookie: {}",
        "password={}",
        '{{"key": "{}"}}',
        "x-api-key: {}",
        "TICKET={}",
    ],
)
def test_a_planted_secret_is_redacted(text: str):
    written = redact(text.format(CANARY))
    assert CANARY not in written
    assert "anary0" not in written
    assert MARK in written


@pytest.mark.row("S17")
def test_a_bare_secret_is_known_by_its_shape():
    for _ in range(200):
        secret = secrets.token_urlsafe(32)
        if not any(letter.isdigit() for letter in secret):
            continue
        assert secret not in redact(f"unknown grant {secret} from 127.0.0.1")


def test_the_rest_of_the_line_stays():
    line = "GET /ws?after=12&ticket=abc&x=1 from 127.0.0.1"
    assert redact(line) == f"GET /ws?after=12&ticket={MARK}&x=1 from 127.0.0.1"


@pytest.mark.parametrize(
    "text",
    [
        "session 0123456789abcdef ended",
        "input_sha256 " + "ab" * 32,
        "The key is under the mat",
        "12 tokens used, tokenizer warm",
        "keyboard: qwerty",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str):
    assert redact(text) == text
