"""`listens.py FOLDER [hides]`: listens on 127.0.0.1, and on every address in a grandchild without a parent.

FOLDER gets a note of each port and each connection. With `hides`, one more grandchild drops its environment.
"""

import ctypes
import os
import socket
import sys
import threading
from pathlib import Path

from speech import behave, init

folder = Path(sys.argv[1])
# A terminal that is cleared, text that runs backwards, and a byte that is no text.
NAME = b"web\x1b[2J\xe2\x80\xae\xff"
PAGE = b"HTTP/1.0 200 OK\r\n\r\nthe agent's own page"
HIDDEN = """
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
os.write(int(sys.argv[1]), f"{listener.getsockname()[1]} {os.getpid()}".encode())
while True:
    listener.accept()
"""


def serve(listener: socket.socket) -> None:
    while True:
        caller, _ = listener.accept()
        with open(folder / "connections", "a") as file:
            file.write("one\n")
        with caller:
            request = b""  # closed before it is read whole, the caller would get a reset instead of the page
            while not request.endswith(b"\r\n\r\n") and (more := caller.recv(4096)):
                request += more
            if request:
                caller.sendall(PAGE)


def away(what: str) -> str:
    """What a grandchild in a session of its own wrote when it was ready."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        if what == "hides":
            os.set_inheritable(writing, True)
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", HIDDEN, str(writing)], {})
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(15, NAME, 0, 0, 0)
        listener = socket.create_server(("0.0.0.0", 0))
        os.write(writing, f"{listener.getsockname()[1]} {os.getpid()}".encode())
        serve(listener)
    os.wait()
    return os.read(reading, 40).decode()


def note(name: str, text: str) -> None:
    (folder / f"{name}.part").write_text(text)
    (folder / f"{name}.part").rename(folder / name)


network = away("everywhere")
hidden = away("hides") if "hides" in sys.argv else ""
own = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(own,), daemon=True).start()
note("ports", f"{own.getsockname()[1]} {os.getpid()}\n{network}\n{hidden}".strip())
init()
behave()
