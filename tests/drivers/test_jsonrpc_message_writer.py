"""JSON-RPC messages as they are written: one line each, with or without the version field."""

from msgspec import Raw

from bascule.drivers.jsonrpc.message_writer import MessageWriter


def test_each_message_is_one_line() -> None:
    writer = MessageWriter()
    assert writer.request(1, "do", {"a": "b\n"}) == (
        b'{"jsonrpc":"2.0","id":1,"method":"do","params":{"a":"b\\n"}}\n'
    )
    assert writer.notification("news", {}) == b'{"jsonrpc":"2.0","method":"news","params":{}}\n'
    assert writer.result(Raw(b'"x"'), {"ok": True}) == b'{"jsonrpc":"2.0","id":"x","result":{"ok":true}}\n'
    assert writer.error(Raw(b"3"), -1, "no") == (
        b'{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}\n'
    )


def test_the_version_field_may_be_left_out() -> None:
    assert MessageWriter(version=False).notification("initialized") == b'{"method":"initialized"}\n'
