"""A scripted agent that only prints: it greets, echoes, and asks before it "runs" something. Stdlib only."""

import sys


def say(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()


def main() -> None:
    say("Plain agent 1.0\n> ")
    for line in sys.stdin:
        words = line.strip()
        if words.startswith("run "):
            say(f"Run shell command? {words[4:]}\n(Y)es/(N)o [Yes]: ")
            answer = sys.stdin.readline().strip()
            say("It ran.\n" if answer == "y" else "It did not run.\n")
        else:
            say(f"You said: {words}\n")
        say("> ")


if __name__ == "__main__":
    main()
