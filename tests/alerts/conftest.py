"""What several tests of receivers need."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from certificates import Certificates


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if shutil.which("openssl") is None:
        pytest.skip("makes its certificate with openssl")
    folder = tmp_path_factory.mktemp("certificates")
    made = Certificates(folder / "cert.pem", folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-keyout", made.key, "-out", made.certificate, "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,DNS:desk.example,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return made
