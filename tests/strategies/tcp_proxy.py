"""A network between a program and PostgreSQL that a test can cut: a port of loopback before its socket."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

Fate = Literal["pass", "lost", "answer lost", "not known"]
"""The fate of what a client sends: it arrives; it does not, and the connection ends; it arrives, and the
connection ends before the answer is back; or it does not arrive, and the server waits on for more until
`forget`."""


class TcpProxy:
    """Passes bytes on. `fate` is asked of everything that a client sends; `cut` ends all connections and lets
    no new one through until `mend`."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_cut = False
        self._forgotten = threading.Event()
        self.fate: Callable[[bytes], Fate] = lambda _: "pass"
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections; new ones are ended as soon as they come."""
        with self._lock:
            self._is_cut = True
            for one in self._open:
                _end(one)

    def mend(self) -> None:
        """Let new connections through."""
        self._is_cut = False

    def forget(self) -> None:
        """Let the server know of the connections that ended."""
        self._forgotten.set()

    def close(self) -> None:
        """End everything."""
        self.forget()
        self.cut()
        _end(self._listening)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            with self._lock:
                if self._is_cut:
                    return
                self._open |= {client, server}
            with contextlib.suppress(OSError):
                server.connect(str(self._server))
                back = threading.Thread(target=_pass_on, args=[server, client], daemon=True)
                back.start()
                with contextlib.suppress(OSError):
                    self._from_client(client, server)
                _end(server)
                back.join()
            with self._lock:
                self._open -= {client, server}

    def _from_client(self, client: socket.socket, server: socket.socket) -> None:
        while data := client.recv(1 << 16):
            fate = self.fate(data)
            if fate != "pass":
                _end(client)
            if fate == "not known":
                self._forgotten.wait()
            if fate != "pass" and fate != "answer lost":
                return
            server.sendall(data)
            if fate == "answer lost":
                return


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            with contextlib.suppress(OSError):
                target.sendall(data)
    _end(target)


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def proxy(server: Path) -> Iterator[TcpProxy]:
    """A proxy before a socket of this machine, closed at the end."""
    found = TcpProxy(server)
    try:
        yield found
    finally:
        found.close()
