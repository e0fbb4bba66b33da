"""What looks like a key is hidden in text that leaves the machine; what only looks a little like one stays.

Every key here is made up: put together from pieces, so that no scanner of this repository takes one for real.
"""

import time

import pytest

from bascule.policy.scrub import HIDDEN, is_open_key, scrub

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gJ6kL9nP2rS5tV8xY1zA4cE7fG0hJ3"
KEYS = [
    "sk-" + "ant-api03-" + LETTERS[:40],
    "sk-" + "proj-" + LETTERS[:48],
    "sk-" + "or-v1-" + "0123456789abcdef" * 4,
    "sk" + "_live_" + LETTERS[:24],
    "gh" + "p_" + LETTERS[:36],
    "github" + "_pat_" + LETTERS[:22] + "_" + LETTERS[:30],
    "gl" + "pat-" + LETTERS[:20],
    "AK" + "IAIOSFODNN7EXAMPLE",
    "AI" + "za" + LETTERS[:35],
    "ya" + "29." + LETTERS[:40],
    "xo" + "xb-" + "123456789012-" + LETTERS[:24],
    "np" + "m_" + LETTERS[:36],
    "pypi" + "-" + LETTERS[:60],
    "h" + "f_" + LETTERS[:34].replace("0", "a"),
    "SG" + "." + LETTERS[:22] + "." + LETTERS[:43],
    "12345678" + ":AA" + LETTERS[:33],
    "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + LETTERS[:43],
    "AGE-SECRET-KEY-1" + "Q" * 58,
    LETTERS[:43],  # one of our own links
]
AROUND = [
    "{}",
    "key {} here",
    "KEY={}",
    '{{"apiKey":"{}"}}',
    "({})",
    "`{}`",
    "a\n{}\nb",
    "https://x.example/?k={}&b=1",
]
SECRETS_BY_NAME = [
    ("DB_PASSWORD=correct-horse-battery", "correct-horse-battery"),
    ('password = "hunter2 and more"', "hunter2 and more"),
    ('"client_secret": "abcdef123456"', "abcdef123456"),
    ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI"),
    ("postgres://ana:tr0ub4dor@db.example/shop", "tr0ub4dor"),
    ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
    ("curl 'https://x.example/?access_token=abc123def456'", "abc123def456"),
    ("password: s3cretpass", "s3cretpass"),
    ("https://hooks.slack.com/services/" + "T000/B000/XXXX1234", "B000"),
    ("https://discord.com/api/webhooks/" + "123456/abc-DEF_1", "abc-DEF_1"),
    ("AccountKey=" + LETTERS[:40] + "==", LETTERS[:40]),
]
HARMLESS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "3f78685",
    "index 83db48f..bf2f1a6 100644",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "--hash=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    '"integrity": "sha512-' + "aB3d" * 21 + '=="',
    "password = os.environ['DB_PASSWORD']",
    'password = "${DB_PASSWORD}"',
    "password: str",
    "token: required",
    "The token: a short word that follows",
    "API_KEY=$API_KEY make",
    "secret = None",
    "api_key=<your key>",
    "def token_of(request): return request.token",
    "tokens: 1234 in, 567 out",
    "max_tokens=4096",
    "a basic example of the bearer of news",
    "http://127.0.0.1:3333/sessions/s1",
    "git@github.com:ana/shop.git",
    "https://ana@github.com/ana/shop.git",
    "src/bascule/store/migrations/0001_begin.sql",
    "task-force-one-and-a-very-long-branch-name-for-the-shop",
    "sk-learn and risk-assessment-of-the-whole-thing",
    "2026-01-01T00:00:00.000000Z",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
]


@pytest.mark.row("S61")
@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:8])
def test_a_key_is_hidden_wherever_it_stands(key: str) -> None:
    for around in AROUND:
        text = scrub(around.format(key))
        assert HIDDEN in text
        assert key not in text
        assert key[-16:] not in text


@pytest.mark.parametrize(("text", "secret"), SECRETS_BY_NAME)
def test_a_value_beside_a_name_that_says_secret_is_hidden(text: str, secret: str) -> None:
    scrubbed = scrub(text)
    assert secret not in scrubbed
    assert HIDDEN in scrubbed
    assert scrub(scrubbed) == scrubbed


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_ids_code_and_prose_stay_as_they_are(text: str) -> None:
    assert scrub(text) == text


def test_a_private_key_is_hidden_whole_and_while_it_is_still_being_written() -> None:
    begin, end = "-----BEGIN OPENSSH " + "PRIVATE KEY-----", "-----END OPENSSH " + "PRIVATE KEY-----"
    assert scrub(f"a\n{begin}\nAAAA\nBBBB\n{end}\nb") == f"a\n{HIDDEN}\nb"
    assert scrub(f"a\n{begin}\nAAAA\nBB") == f"a\n{HIDDEN}"
    assert is_open_key(f"a\n{begin}\nAAAA\n")
    assert not is_open_key(f"a\n{begin}\nAAAA\n{end}\n")
    assert not is_open_key("-----BEGIN CERTIFICATE-----\n")


def test_a_long_text_without_secrets_costs_little() -> None:
    """Rules that try again from every letter would take minutes for this."""
    began = time.process_time()
    for text in ("a" * 200_000, "token" * 40_000, "x-" * 100_000, "://" * 60_000, "password=" * 20_000):
        scrub(text)
    assert time.process_time() - began < 10
