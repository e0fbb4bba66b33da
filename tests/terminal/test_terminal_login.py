"""A shell is what the person gets in a terminal of their own: their login shell, profile and environment."""

from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.terminal.viewing import terminal, viewing

pytestmark = pytest.mark.anyio


@pytest.mark.row("P1", "P3")
async def test_a_shell_is_the_persons_own_login_shell_with_their_profile_and_environment(
    short_dir: Path,
) -> None:
    (own := short_dir / "own-shell").symlink_to("/bin/sh")
    server = LiveServer(short_dir, env={"SHELL": str(own), "OWN_WORD": "of the server's environment"})
    (server.home / ".profile").write_text("echo prof''ile was read\nexport FROM_PROFILE=exported\n")
    async with server:
        session = await terminal(server)
        async with viewing(server, session) as viewer:
            await viewer.shows(b"profile was read")
            await viewer.type('echo "<$OWN_WORD, $FROM_PROFILE, $0>"\r')
            await viewer.shows(f"<of the server's environment, exported, {own}>".encode())
            # What the server itself is told by its environment is not the person's.
            await viewer.type('echo "<$BASCULE_CONFIG_DIR>"\r')
            await viewer.shows(b"\r\n<>\r\n")
