"""`assay apple check`: whether Apple accepts a client, and the likely causes if it does not."""

import re

import pytest

from harness.apple import Apple
from harness.service import run, write_config
from harness.tokens import ec_key

APP, WEB = "com.example.app", "com.example.web"


@pytest.fixture
def apple():
    with Apple() as apple:
        yield apple


@pytest.fixture
def team(apple):
    return apple.team(APP, WEB)


@pytest.fixture
def key_file(team, tmp_path):
    file = tmp_path / f"AuthKey_{team.key_id}.p8"
    file.write_bytes(team.pem)
    file.chmod(0o600)
    return file


def client(team, key_file, id: str = APP, **changes) -> dict:
    usual = {"id": id, "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(key_file)}
    return usual | changes


@pytest.fixture
def check(apple, team, key_file, tmp_path):
    def call(*clients: dict, options: tuple[str, ...] = ()) -> tuple[int, str]:
        clients = clients or (client(team, key_file),)
        config = write_config(
            tmp_path, {"providers": [apple.settings(audiences=[item["id"] for item in clients], clients=list(clients))]}
        )
        result = run("apple", "check", "--config", str(config), *options)
        text = result.stdout.decode() + result.stderr.decode()
        # Neither the secret nor any part of the key.
        assert "eyJ" not in text and team.pem.splitlines()[1].decode() not in text
        return result.returncode, text

    return call


def test_an_accepted_client_is_reported(check, apple):
    assert check() == (0, f"{APP}: Apple accepts the client (invalid_grant for the made-up refresh token)\n")
    assert [form["grant_type"] for form in apple.to("/auth/token")] == ["refresh_token"]
    assert apple.secret_faults == []


def causes(text: str) -> list[str]:
    """The text of the numbered causes."""
    return re.findall(r"^  \d\. (.*)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"team_id": "TEAM999999"}, "the client ID: no app"),
        ({"key_id": "KEYOTHER00"}, "the Key ID is KEYOTHER00, but the key file's name says KEY0000000"),
        ({"id": "com.example.App"}, "the client ID: no app"),
        ({"id": "TEAM000000.com.example.app"}, "the client ID begins with the Team ID: use the bundle ID alone, com.example.app"),
        ({"id": "TEAM000000"}, "the client ID is the Team ID"),
        ({"id": "myapp"}, "the client ID does not look like a bundle ID"),
    ],
)
def test_a_rejected_client_is_reported_with_likely_causes(check, team, key_file, changes, first):
    wrong = client(team, key_file, **changes)
    status, text = check(wrong)
    assert status == 1
    assert text.startswith(f"{wrong['id']}: Apple rejects the client: invalid_client\n")
    # The report shows what was sent, to compare with Apple's pages.
    for name, value in [("client_id", wrong["id"]), ("Team ID", wrong["team_id"]), ("Key ID", wrong["key_id"])]:
        assert any(name in line and line.endswith("  " + value) for line in text.splitlines()), text
    found = causes(text)
    assert found[0].startswith(first), text
    for part in ("the client ID", "the Key ID", "the Team ID", "the key", "this machine's clock"):
        assert any(cause.startswith(part) for cause in found), text


def test_a_key_that_works_for_another_client_is_not_a_likely_cause(check, team, key_file):
    status, text = check(client(team, key_file), client(team, key_file, id="com.example.gone"))
    assert status == 1
    assert f"{APP}: Apple accepts the client" in text
    found = causes(text)
    assert len(found) == 1 and "com.example.gone" in found[0] and "Team ID, Key ID and key are right" in found[0]


def test_a_wrong_key_is_rejected(check, team, key_file):
    key_file.write_bytes(_pem(ec_key("another")))
    status, text = check()
    assert status == 1 and "invalid_client" in text


def _pem(key) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_an_invalid_key_file_is_reported_and_nothing_is_sent(check, apple, key_file):
    for contents, told in [(b"junk", "it holds no private key"), (_pem(ec_key("x", "P-384")), "P-256")]:
        key_file.write_bytes(contents)
        status, text = check()
        assert status == 1
        assert f"{APP}: nothing was sent: " in text and told in text
    assert apple.requests == []


def test_options_select_the_clients(check, team, key_file):
    both = (client(team, key_file), client(team, key_file, id=WEB))
    assert check(*both)[1].count("Apple accepts the client") == 2
    assert check(*both, options=("--client-id", WEB))[1].startswith(WEB)
    status, text = check(*both, options=("--client-id", "com.example.else"))
    assert status == 1 and f"{APP} of apple, {WEB} of apple" in text
    assert check(*both, options=("--provider", "google"))[0] == 1


def test_an_unreachable_apple_is_reported(check, apple):
    apple.__exit__()
    status, text = check()
    assert status == 1 and "Apple can't be reached: " in text and "the connection was refused" in text


def test_options_can_replace_the_settings_file(team, key_file):
    ids = ["--team-id", team.id, "--key-id", team.key_id, "--client-id", APP]
    options = ["apple", "check", "--key-file", str(key_file), *ids]
    # The proxy does not exist, so nothing is sent to Apple.
    result = run(*options, variables={"HTTPS_PROXY": "http://127.0.0.1:1"})
    assert result.returncode == 1
    assert result.stdout.decode().startswith(f"{APP}: Apple can't be reached: "), result
    for wrong in (options[:-2], [*options, "--config", "x"], [*options[:-6], "--team-id", "abc", *options[-4:]]):
        assert run(*wrong).returncode == 64, wrong
