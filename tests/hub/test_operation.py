"""An operation is found by its route: exact parts before parameters, and never across a slash."""

from typing import Any

import pytest

from bascule.hub.calls.operation import Empty, Operation, Table


async def run(_: Any) -> None: ...


def operation(method: str, path: str) -> Operation:
    return Operation(run=run, need="owner", summary=f"{method} {path}", method=method, path=path, body=Empty)


TABLE = Table(
    operation(*route.split())
    for route in (
        "GET /a/{b}",
        "POST /a/{b}",
        "GET /a/now",
        "WS /w",
        "GET /a/{b}/c/{d}",
        "GET /",
        "GET /v1.0",
    )
)


@pytest.mark.parametrize(
    ("method", "path", "found", "params"),
    [
        ("GET", "/a/now", "GET /a/now", {}),
        ("GET", "/a/other", "GET /a/{b}", {"b": "other"}),
        ("POST", "/a/now", "POST /a/{b}", {"b": "now"}),
        ("GET", "/a/1/c/2", "GET /a/{b}/c/{d}", {"b": "1", "d": "2"}),
        ("GET", "/a/{b}", "GET /a/{b}", {"b": "{b}"}),
        ("GET", "/", "GET /", {}),
        ("WS", "/w", "WS /w", {}),
        ("GET", "/v1.0", "GET /v1.0", {}),
    ],
)
def test_a_route_is_found_with_its_parameters(
    method: str, path: str, found: str, params: dict[str, str]
) -> None:
    match = TABLE.find(method, path)
    assert match.operation is not None
    assert (match.operation.summary, match.params) == (found, params)


@pytest.mark.parametrize(
    ("method", "path", "methods"),
    [
        ("DELETE", "/a/now", ["GET", "GET", "POST"]),
        ("POST", "/w", ["GET"]),
        ("GET", "/a/", []),
        ("GET", "/a", []),
        ("GET", "/a/1/c/2/", []),
        ("GET", "/v1x0", []),
        ("GET", "", []),
    ],
)
def test_a_route_that_is_none_names_the_methods_of_its_path(
    method: str, path: str, methods: list[str]
) -> None:
    match = TABLE.find(method, path)
    assert match.operation is None
    assert match.methods == methods
