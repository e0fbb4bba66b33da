"""Sends everything that is not stream-json between two things that are."""

import sys

from speech import behave, heard, init, result, say

GARBAGE = [
    b"this is not JSON\n",
    b'{"type":"assistant","message":\n',
    b'{"type":"user","message":"\xff\xfe broken UTF-8"}\n',
    b'\xef\xbb\xbf{"type":"system","subtype":"init"}\n',
    b'{"type":"brand_new_type","x":1}\r\n',
    b'{"type":"a\x00b"}\n',
    b'{"type":"system","x":NaN}\n',
    b"[1,2,3]\n",
    b"123\n",
    b'{"type":"result","is_error":"maybe","usage":[],"duration_ms":{}}\n'.replace(b"result", b"resul"),
    b'{"type":"control_response","response":{"subtype":"success","request_id":"never asked"}}\n',
    b'{"type":"control_cancel_request","request_id":"never asked"}\n',
    b'{"type":"x","deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    b"\n",
    b"   \n",
]

heard()
init()
say("before the garbage", "msg_before")
for line in GARBAGE:
    sys.stdout.buffer.write(line)
sys.stdout.buffer.flush()
say("after the garbage", "msg_after")
result()
behave()
