"""TLS and SASL for brokers: a certificate that signs itself, users with passwords, and who may do what."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ADMINISTRATOR = "User:ANONYMOUS"
"""Who comes by the plain port: the brokers themselves, and whoever sets up a test."""
SCRAM = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True)
class Secured:
    """A second port with TLS, and passwords by PLAIN or SCRAM; its users may do what ACLs grant, no more."""

    users: Mapping[str, str] = field(default_factory=lambda: {"alice": "alice-secret", "bob": "bob-secret"})

    def certificate(self, folder: Path) -> Path:
        """A file with a certificate for 127.0.0.1 and localhost, made in a folder; its key is beside it.

        Clients take it for the authority, too: `ssl.ca.location` or `ssl.truststore.location` of type PEM.
        """
        made, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
             "-out", made, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
            check=True, capture_output=True,
        )  # fmt: skip
        (folder / "keystore.pem").write_bytes(key.read_bytes() + made.read_bytes())
        return made

    def properties(self, folder: Path) -> dict[str, object]:
        """Properties of a broker whose certificate lies in a folder."""
        users = " ".join(f'user_{name}="{password}"' for name, password in self.users.items())
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
        return {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": ADMINISTRATOR,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": folder / "keystore.pem",
            "sasl.enabled.mechanisms": f"PLAIN,{SCRAM}",
            "listener.name.secured.plain.sasl.jaas.config": f"{plain} required {users};",
            f"listener.name.secured.{SCRAM.lower()}.sasl.jaas.config": f"{scram} required;",
        }

    def options(self) -> list[str]:
        """Options with which the storage of a broker is made, so that it knows the users."""
        return [
            word
            for name, password in self.users.items()
            for word in ("--add-scram", f"{SCRAM}=[name={name},password={password}]")
        ]
