"""What people are told of a database's address, and of why nobody answers there."""

import socket

import pytest

from bascule.store.postgres.address import shown, why_away


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://ana:secret@db.example/bascule", "db.example:5432"),
        ("postgresql://ana:secret@db.example:6000/bascule", "db.example:6000"),
        ("postgresql://ana:p%40ss@[::1]/bascule", "[::1]:5432"),
        ("postgresql://ana:secret@[::1]:6000/bascule", "[::1]:6000"),
        ("postgresql://a.example:1,b.example:2/bascule", "a.example:1,b.example:2"),
        ("postgresql://ana@/bascule?host=/run/postgresql", "the socket in /run/postgresql"),
        ("postgresql://%2Frun%2Fpostgresql/bascule", "the socket in /run/postgresql"),
        ("postgresql:///bascule?host=db.example&port=6000&password=secret", "db.example:6000"),
        ("postgresql:///bascule", "this machine"),
    ],
)
def test_an_address_is_its_server_and_no_password(
    url: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGHOST", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    assert shown(url) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file or directory"), "nothing listens at db:5432"),
        (ConnectionRefusedError(111, "Connect call failed ('10.0.0.1', 5432)"), "nothing listens at db:5432"),
        (socket.gaierror(-2, "Name or service not known"), "no address is known for db:5432"),
        (TimeoutError(), "no answer from db:5432"),
        (PermissionError(13, "Permission denied"), "this user may not open db:5432"),
        (OSError(113, "No route to host"), "db:5432: No route to host"),
    ],
)
def test_why_nobody_answers_is_said_in_words(error: OSError, words: str) -> None:
    assert why_away(error, "postgresql://db/bascule") == words
