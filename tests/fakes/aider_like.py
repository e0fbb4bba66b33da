"""Prints over pipes what Aider 0.86.2 prints there, byte for byte; its model repeats what it is told.

Fenced `bash` blocks of an answer are asked about and, allowed, run. `--slow` puts a copier before stdout that
hands on two bytes at a time, as a loaded machine may.
"""

import os
import re
import subprocess
import sys
import textwrap
import time

FENCE = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BANNER = "Aider v0.86.2\nModel: openai/fake-model with diff edit format\nGit repo: none\nRepo-map: disabled\n"
WIDTH = 80  # at which it breaks its own lines, though not those of the model


class Aider:
    def __init__(self, *, slow: bool) -> None:
        self._slow = slow
        self.prefix = "> "

    def say(self, words: str) -> None:
        data = words.encode()
        size = 2 if self._slow else len(data)
        for at in range(0, len(data), max(1, size)):
            os.write(1, data[at : at + size])
            if self._slow:
                time.sleep(0.004)

    def read(self, shown: str) -> str:
        self.say(shown)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def message(self) -> str:
        self.say("\n")
        line = self.read(self.prefix)
        found = re.fullmatch(r"\{(\w*)", line)
        if found is not None:
            lines: list[str] = []
            while (line := self.read(self.prefix)) != f"{found.group(1)}}}":
                lines.append(line)
            line = "".join(f"{one}\n" for one in lines)
        self.say("\n")
        return line

    def ask(self, question: str, subject: str = "", *, never: bool = False) -> bool:
        if subject:
            lines = subject.splitlines()
            width = max(len(one) for one in lines) if len(lines) > 1 else 0
            padded = (one.ljust(width) for one in lines)
            broken = [
                part
                for one in padded
                for part in (textwrap.wrap(one, WIDTH, drop_whitespace=False) if one.strip() else [one])
            ]
            self.say("\n" + "\n".join(broken) + "\n")
        shown = f"{question} (Y)es/(N)o{'/(D)on' + chr(39) + 't ask again' if never else ''} [Yes]: "
        answers = ["yes", "no", "skip", "all", *(["don't"] if never else [])]
        while True:
            answer = self.read(shown).lower() or "yes"
            if any(one.startswith(answer) for one in answers):
                return answer[0] == "y"
            self.say(f"Please answer with one of: {', '.join(answers)}\n")

    def take(self, message: str) -> None:
        if message.startswith("/"):
            self.say(f"Invalid command: {message.split()[0]}\n")
            return
        if message.startswith("fail"):
            self.say("litellm.AuthenticationError: AuthenticationError: Scripted error 401\n\n")
            return
        self.say(f"You said: {message}".rstrip("\n") + "\n")
        self.say("Tokens: 2.4k sent, 14 received.\n")
        if message.startswith("write "):
            name = message.split()[1]
            if self.ask("Create new file?", name):
                with open(name, "w", encoding="utf-8") as file:
                    file.write("one\n")
                self.say(f"Applied edit to {name}\n")
        for script in FENCE.findall(message):
            self.run(script.strip())

    def run(self, script: str) -> None:
        plural = "s" if len(script.splitlines()) > 1 else ""
        if not self.ask(f"Run shell command{plural}?", script, never=True):
            return
        printed = ""
        for command in script.splitlines():
            self.say(f"\nRunning {command}\n")
            done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
            self.say(done.stdout)
            printed += done.stdout
        if printed:
            self.ask("Add command output to the chat?", never=True)


def main() -> None:
    aider = Aider(slow="--slow" in sys.argv)
    aider.say(BANNER)
    try:
        while True:
            aider.take(aider.message())
    except EOFError:
        return


if __name__ == "__main__":
    main()
