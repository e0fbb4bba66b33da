"""Writes the expected events of the JSON-RPC recordings anew: `python -m tests.drivers.rpc_regolden`."""

import sys

from tests.drivers import acp_playing, codex_playing
from tests.drivers.playing import RECORDINGS, names_in
from tests.drivers.recorded import as_json, merged

from bascule.model.events import AnyEvent

# Recordings in which an earlier session is resumed before the one that the rest is about.
RESUMED = (
    "claude_agent_resume_modes",
    "codex_adapter_resume_modes",
    "opencode_resume_modes",
    "zed_codex_resume_modes",
)


def expected() -> dict[str, list[AnyEvent]]:
    """Each golden file and what belongs in it."""
    found = {f"acp/{name}": acp_playing.events_of(name) for name in names_in("acp")}
    found |= {f"acp/{name}.resumed": acp_playing.events_of(name, "session/resume") for name in RESUMED}
    found |= {f"codex/{name}": codex_playing.events_of(name) for name in names_in("codex")}
    return found


def main() -> None:
    for name, events in expected().items():
        path = RECORDINGS / f"{name}.events.json"
        fresh = as_json(merged(events))
        if not path.exists() or path.read_text() != fresh:
            path.write_text(fresh)
            sys.stdout.write(f"wrote {path.name}\n")


if __name__ == "__main__":
    main()
