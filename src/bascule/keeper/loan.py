"""A loan: the server holds a duplicate of a terminal's descriptor and writes a person's keys to it itself."""

import socket

from bascule.keeper.loop import READ, Loop


class Loan:
    """Lasts as long as the connection the duplicate was sent on: closing it on either side ends the loan.

    So a loan ends with either process, and the server learns of its end without a message of another kind.
    """

    def __init__(self, loop: Loop, connection: socket.socket) -> None:
        self._loop = loop
        self._connection = connection
        self.open = True
        loop.watch(connection.fileno(), READ, self.end)  # nothing but its end is ever sent back

    def end(self) -> None:
        if self.open:
            self.open = False
            self._loop.unwatch(self._connection.fileno())
            self._connection.close()
