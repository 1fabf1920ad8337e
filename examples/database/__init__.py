"""A server of PostgreSQL on this machine, for tests and demos: on a socket alone, gone at the end.

    with running_server() as server:
        create_engine(server.url())

`make tools` installs Debian's package.
"""

from database.server import Server, ServerError, lacking, running_server

__all__ = ["Server", "ServerError", "lacking", "running_server"]
