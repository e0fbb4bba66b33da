"""`hugeline.py N`: sends one well-formed message of about N bytes in a single line, then goes on."""

from speech import behave, heard, init, number, result, say, send

heard()
init()
said = {"tool_use_id": "toolu_huge", "type": "tool_result", "content": "h" * number(1, 64 * 1024 * 1024)}
send({"type": "user", "message": {"role": "user", "content": [said]}})
say("after the huge line")
result()
behave()
