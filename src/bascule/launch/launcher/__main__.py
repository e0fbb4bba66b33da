"""The launcher: runs inside the terminal, takes up the plan and the prompt, reports, and starts the agent.

Its only argument is the plan's path. Until the agent has to be typed at, it needs the standard library alone.
"""

import errno
import os
import signal
import subprocess
import sys
import time

from bascule.launch.handing_over import fits_argument, untypable
from bascule.launch.launcher.plan_files import Reporter, take_up
from bascule.launch.plan import Plan

QUICK_SECONDS = 10.0  # an agent that fails sooner has something to say that nobody could read yet
GIVEN_UP = "There is nothing to launch here any more: this window came too late. Launch it again."


def main() -> int:
    folder, _, name = sys.argv[1].rpartition("/")
    try:
        plan, prompt = take_up(folder, name)
    except OSError:
        return stay_open(GIVEN_UP)
    report = Reporter(folder, plan)
    try:
        os.chdir(plan["cwd"])
    except OSError as error:
        message = f"The working directory can't be entered: {error.strerror}."
        report.failed("invalid_working_directory", message)
        return stay_open(message)
    if plan["missing"]:
        report.failed("agent_not_found", plan["missing"])
        return stay_open(plan["missing"], f"Install it with: {plan['install']}" if plan["install"] else "")
    began = time.monotonic()
    try:
        code = start(plan, prompt, report)
    except OSError as error:
        message = f"{plan['title']} can't be started: {error.strerror}."
        report.failed("agent_start_failed", message)
        return stay_open(message)
    if code != 0 and time.monotonic() - began < QUICK_SECONDS:
        how = f"with code {code}" if code > 0 else f"by signal {-code}"
        return stay_open(f"{plan['title']} ended {how}.")
    return max(code, 0)


def start(plan: Plan, prompt: str | None, report: Reporter) -> int:
    """Run the agent to its end; its exit code, or minus the signal that ended it."""
    environment = {**plan["defaults"], **os.environ, **plan["environment"]}
    words = tuple(plan["prompt_words"])
    if prompt is None:
        return run(plan["argv"], environment, report, "none")
    if fits_argument(prompt, words):
        given = [word.replace("{value}", prompt) for word in words]
        try:
            return run([*plan["argv"], *given], environment, report, "argument")
        except OSError as error:
            # With a large environment there may be less room for arguments than usual.
            if error.errno != errno.E2BIG or untypable(prompt) is not None:
                raise
    from bascule.launch.launcher.pty_relay import relay  # noqa: PLC0415 - loads what only a typed prompt needs

    return relay(plan, prompt, environment, report)


def run(argv: list[str], environment: dict[str, str], report: Reporter, how: str) -> int:
    process = subprocess.Popen(argv, env=environment)
    # Keys and hang-ups are for the agent, which is in this terminal's foreground as well.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
    report.started(how)
    return process.wait()


def stay_open(*lines: str) -> int:
    """Say it, and leave the window open until it was read."""
    for line in filter(None, lines):
        sys.stderr.write(f"{line}\n")
    sys.stderr.write("\nPress Enter to close this window.\n")
    sys.stderr.flush()
    sys.stdin.readline()
    return 1


if __name__ == "__main__":
    sys.exit(main())
