"""Egress: which addresses a receiver may have.

A name is looked up by others, so that whoever owns it chooses where the job connects to: its own machine, its
neighbours, the address where a cloud gives away credentials. So every address of a name is looked at, and the
connection goes to one of those that were.

RefusedError    a host has an address that its receiver must not have
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import httpcore

from alerts.receivers.addresses import nature


class RefusedError(httpcore.ConnectError):
    """A host has an address that a receiver must not have; the text names both."""


@dataclass(frozen=True, slots=True)
class Egress:
    """The addresses that one receiver may have: public ones, with `private` also those of private networks
    and of this machine. A URL that has such an address itself, or the name localhost, allows that one."""

    private: bool = False

    def check(self, host: str, addresses: Sequence[str]) -> None:
        """Raises RefusedError if one of a host's addresses is none for this receiver."""
        for address in addresses:
            if (said := self._refusal(host, address)) is not None:
                raise RefusedError(said)

    def _refusal(self, host: str, address: str) -> str | None:
        found = nature(address)
        place = address if _same(host, address) else f"{host} is {address}, which"
        if found == "forbidden":
            return f"{place} is no address of a receiver: link-local, multicast, unspecified or a cloud's own"
        if found == "public" or self.private or _same(host, address):
            return None
        if found == "loopback" and host.rstrip(".").lower() == "localhost":
            return None
        return f"{place} is {found}: a name may have such an address only with allow_private = true"


def _same(host: str, address: str) -> bool:
    """True if the host is this address itself."""
    with suppress(ValueError):
        return ipaddress.ip_address(host) == ipaddress.ip_address(address)
    return False
