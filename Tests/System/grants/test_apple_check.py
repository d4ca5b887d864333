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
        # No secret, and no part of the key.
        assert "eyJ" not in text and team.pem.splitlines()[1].decode() not in text
        return result.returncode, text

    return call


def test_a_client_that_apple_accepts(check, apple):
    assert check() == (0, f"{APP}: Apple accepts the client (invalid_grant for the made-up refresh token)\n")
    assert [form["grant_type"] for form in apple.to("/auth/token")] == ["refresh_token"]
    assert apple.secret_faults == []


def causes(text: str) -> list[str]:
    """The numbered causes, by their first words."""
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
def test_what_may_be_wrong_with_a_client_that_it_rejects(check, team, key_file, changes, first):
    wrong = client(team, key_file, **changes)
    status, text = check(wrong)
    assert status == 1
    assert text.startswith(f"{wrong['id']}: Apple rejects the client: invalid_client\n")
    # What was sent, to compare with Apple's pages.
    for name, value in [("client_id", wrong["id"]), ("Team ID", wrong["team_id"]), ("Key ID", wrong["key_id"])]:
        assert any(name in line and line.endswith("  " + value) for line in text.splitlines()), text
    found = causes(text)
    assert found[0].startswith(first), text
    for part in ("the client ID", "the Key ID", "the Team ID", "the key", "this machine's clock"):
        assert any(cause.startswith(part) for cause in found), text


def test_a_key_that_another_client_proves_is_not_suspected(check, team, key_file):
    status, text = check(client(team, key_file), client(team, key_file, id="com.example.gone"))
    assert status == 1
    assert f"{APP}: Apple accepts the client" in text
    found = causes(text)
    assert len(found) == 1 and "com.example.gone" in found[0] and "Team ID, Key ID and key are right" in found[0]


def test_another_key_than_the_id_names(check, team, key_file):
    key_file.write_bytes(_pem(ec_key("another")))
    status, text = check()
    assert status == 1 and "invalid_client" in text


def _pem(key) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_a_file_that_is_no_key_of_apples_is_reported_and_nothing_is_sent(check, apple, key_file):
    for contents, told in [(b"junk", "it holds no private key"), (_pem(ec_key("x", "P-384")), "P-256")]:
        key_file.write_bytes(contents)
        status, text = check()
        assert status == 1
        assert f"{APP}: nothing was sent: " in text and told in text
    assert apple.requests == []


def test_which_clients_are_checked(check, team, key_file):
    both = (client(team, key_file), client(team, key_file, id=WEB))
    assert check(*both)[1].count("Apple accepts the client") == 2
    assert check(*both, options=("--client-id", WEB))[1].startswith(WEB)
    status, text = check(*both, options=("--client-id", "com.example.else"))
    assert status == 1 and f"{APP} of apple, {WEB} of apple" in text
    assert check(*both, options=("--provider", "google"))[0] == 1


def test_apple_out_of_reach(check, apple):
    apple.__exit__()
    status, text = check()
    assert status == 1 and "Apple can't be reached: " in text and "the connection was refused" in text


def test_without_settings_the_options_say_it_and_apple_is_asked(team, key_file):
    ids = ["--team-id", team.id, "--key-id", team.key_id, "--client-id", APP]
    options = ["apple", "check", "--key-file", str(key_file), *ids]
    # Nobody listens there, so it shows where the request would go without sending it.
    result = run(*options, variables={"HTTPS_PROXY": "http://127.0.0.1:1"})
    assert result.returncode == 1
    assert result.stdout.decode().startswith(f"{APP}: Apple can't be reached: "), result
    for wrong in (options[:-2], [*options, "--config", "x"], [*options[:-6], "--team-id", "abc", *options[-4:]]):
        assert run(*wrong).returncode == 64, wrong
