"""What every test with a server on this machine may rely on."""

import pytest


@pytest.fixture(autouse=True)
def _nothing_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between a test and its server, and no key of the machine's is used."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
