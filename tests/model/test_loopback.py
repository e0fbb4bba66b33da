"""Loopback: which hosts are this machine's own, by their text alone."""

import pytest

from bascule.model.loopback import is_loopback


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.255.255.254", True),
        ("::1", True),
        ("[::1]", True),
        ("128.0.0.1", False),
        ("0.0.0.0", False),
        ("::", False),
        ("[::2]", False),
        ("LOCALHOST", False),
        ("localhost.example.org", False),
        ("127.0.0.1.example.org", False),
        ("127.1", False),
        ("", False),
    ],
)
def test_a_host_is_loopback_by_its_text_alone(host: str, own: bool):
    assert is_loopback(host) is own
