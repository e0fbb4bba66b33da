"""An `ssh` that stays on this machine: runs the command in another home, with an empty environment.

`-R` is a real forward, from one port of this machine to another. FAKE_SSH is a folder: `home` is the home,
`calls` and `pids` have the arguments and the process of every call. With a file `broken`, nothing is reached.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

WITH_VALUE = ("-o", "-R", "-O")


def main() -> int:
    folder = Path(os.environ["FAKE_SSH"])
    words, options = sys.argv[1:], list[tuple[str, str]]()
    for name, text in (("calls", " ".join(words)), ("pids", str(os.getpid()))):
        with open(folder / name, "a") as file:
            file.write(f"{text}\n")
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "--":
            break
        options.append((option, words.pop(0) if option in WITH_VALUE else ""))
    if any(option == "-O" for option, _ in options):
        return 0
    if (folder / "broken").exists():
        sys.stderr.write("ssh: connect to host far port 22: Connection refused\n")
        return 255
    with contextlib.suppress(OSError):
        for option, value in options:
            if option == "-R":
                forward(value)
        return run(folder, " ".join(words[1:]))
    sys.stderr.write("Error: remote port forwarding failed\n")
    return 255


def run(folder: Path, command: str) -> int:
    env = {"HOME": str(folder / "home"), "PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    # Its output goes through us, as through a real ssh: it ends with us, whoever ended us.
    process = subprocess.Popen(["/bin/sh", "-c", command], env=env, cwd=env["HOME"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    while data := os.read(process.stdout.fileno(), 65536):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return process.wait()


def forward(spec: str) -> None:
    host, port, to_host, to_port = spec.split(":")
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, int(port)))
    listening.listen()

    def take() -> None:
        while True:
            near, _ = listening.accept()
            try:
                far = socket.create_connection((to_host, int(to_port)))
            except OSError:
                near.close()
                continue
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=copy, args=(one, other), daemon=True).start()

    threading.Thread(target=take, daemon=True).start()


def copy(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
