"""A scripted agent that only prints: it greets, echoes, and asks before it "runs" something. Stdlib only."""

import os
import sys


def say(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()


def leave_if(words: str) -> None:
    """`die CODE` ends it with that code, `die -9` by that signal."""
    verb, _, code = words.partition(" ")
    if verb == "die":
        if int(code) < 0:
            os.kill(os.getpid(), -int(code))
        sys.exit(int(code))


def main() -> None:
    say("Plain agent 1.0\n> ")
    for line in sys.stdin:
        words = line.strip()
        leave_if(words)
        if words.startswith("run "):
            say(f"Run shell command? {words[4:]}\n(Y)es/(N)o [Yes]: ")
            leave_if(words[4:])
            answer = sys.stdin.readline().strip()
            say("It ran.\n" if answer == "y" else "It did not run.\n")
        else:
            say(f"You said: {words}\n")
        say("> ")


if __name__ == "__main__":
    main()
