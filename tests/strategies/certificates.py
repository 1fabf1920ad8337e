"""A certificate for servers of tests, and what each side makes of it."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import pytest

from alerts.web_server import Certificate


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """One that signs itself, for localhost, 127.0.0.1 and desk.example."""
    if shutil.which("openssl") is None:
        pytest.skip("makes its certificate with openssl")
    folder = tmp_path_factory.mktemp("certificate")
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-keyout", made.key, "-out", made.chain, "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,DNS:desk.example,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


def serving(certificate: Certificate) -> ssl.SSLContext:
    """TLS of a server that shows a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    return context


def trusting(certificate: Certificate) -> ssl.SSLContext:
    """TLS of a client that trusts a certificate, and no other."""
    return ssl.create_default_context(cafile=str(certificate.chain))
