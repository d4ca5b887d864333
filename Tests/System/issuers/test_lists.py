"""Entries with a list of issuers, in the settings or in a file."""

import pytest

from harness.many import in_file, listed
from harness.service import Service, provider, run, write_config
from harness.tokens import Key, ec_key

KEYS = [ec_key(f"key-{number}") for number in range(3)]


@pytest.fixture
def issuers(server):
    return [server.issuer(f"op-{number}", key) for number, key in enumerate(KEYS)]


def test_readiness_waits_for_no_issuer_and_fetches_none(issuers):
    with Service(listed(*issuers)) as service:
        assert service.api.get("/readyz").json == {"status": "ready", "providers": []}
        assert [issuer.discovery.count for issuer in issuers] == [0, 0, 0]


@pytest.mark.parametrize("named", [{}, {"provider": "customers"}])
def test_a_token_finds_its_issuer_and_only_its_keys_are_fetched_once(issuers, named):
    with Service(listed(*issuers)) as service:
        for _ in range(3):
            answer = service.accept(issuers[1].token(), **named)
            assert answer["identity"]["issuer"] == issuers[1].url
            assert answer["identity"]["provider"] == "customers"
            assert "connection" not in answer["identity"]
        assert [issuer.jwks.count for issuer in issuers] == [0, 1, 0]


def test_an_issuer_that_is_not_listed_is_unknown(server, issuers):
    stranger = server.issuer("stranger", KEYS[0])
    with Service(listed(*issuers)) as service:
        service.reject(stranger.token(), "provider_unknown")
        service.reject(stranger.token(), "issuer_mismatch", provider="customers")
        assert stranger.discovery.count == 0


def test_keys_are_not_fetched_for_a_token_that_would_be_refused(issuers):
    one = issuers[0]
    with Service(listed(*issuers)) as service:
        service.reject(one.token(aud="another"), "audience_mismatch")
        service.reject(one.token(exp=1000), "token_expired")
        assert one.discovery.count == 0
        service.accept(one.token())
        service.reject(one.token(aud="another"), "audience_mismatch")


def test_another_listed_issuers_token_does_not_pass_for_this_ones(server):
    """Two issuers publish keys with the same `kid`."""
    first, second = (server.issuer(name, Key(ec_key(name).private, "shared")) for name in ("first", "second"))
    with Service(listed(first, second)) as service:
        service.accept(first.token())
        service.accept(second.token())
        first.keys, second.keys = second.keys, first.keys
        service.reject(first.token(), "signature_invalid")
        service.reject(second.token(), "signature_invalid")


def test_lines_have_audiences_and_domains(tmp_path, issuers):
    file = tmp_path / "issuers"
    mail = {"email": "a@one.example", "email_verified": True}
    file.write_text(
        f"# customers\r\n\n{issuers[0].url} - @one.example\r\n  {issuers[1].url}  mine  yours @two.example # old\n"
        f"{issuers[2].url} -\n"
    )
    with Service(in_file(file)) as service:
        identity = service.accept(issuers[0].token(**mail))["identity"]
        assert (identity["email_trust"], identity["email_verified"]) == ("verified", True)
        for audience in ["mine", "yours"]:
            identity = service.accept(issuers[1].token(aud=audience, **mail))["identity"]
            assert (identity["email_trust"], identity["email"]) == ("unverified", "a@one.example")
        service.reject(issuers[1].token(), "audience_mismatch")
        identity = service.accept(issuers[2].token(**mail))["identity"]
        assert identity["email_trust"] == "unverified"


def test_a_changed_file_is_read_again_and_a_bad_one_is_not_used(tmp_path, issuers):
    file = tmp_path / "issuers"

    def replace(text: str) -> None:
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").rename(file)

    replace(f"{issuers[0].url} -\n")
    with Service(in_file(file)) as service:
        service.accept(issuers[0].token())
        replace(f"{issuers[0].url} -\n{issuers[1].url} -\n")
        service.wait_until(lambda: service.verify(issuers[1].token()).status == 200)
        service.accept(issuers[0].token())
        assert issuers[0].discovery.count == 1
        replace(f"{issuers[1].url} -\n{issuers[2].url} - nonsense\n")
        entry = service.wait_for_entry(message="configuration rejected, still using the previous one")
        assert "line 2" in entry["reason"] and "nonsense" not in entry["reason"]
        service.accept(issuers[0].token())
        replace(f"{issuers[1].url} -\n")
        service.wait_until(lambda: service.verify(issuers[0].token()).code == "provider_unknown")
        service.accept(issuers[1].token())
        assert issuers[1].discovery.count == 1


def test_a_file_behind_kubernetes_links_is_read_again(tmp_path, issuers):
    for number in (0, 1):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "issuers").write_text(f"{issuers[number].url} -\n")
    data = tmp_path / "..data"
    data.symlink_to("..0")
    (tmp_path / "issuers").symlink_to("..data/issuers")
    with Service(in_file(tmp_path / "issuers")) as service:
        service.accept(issuers[0].token())
        (tmp_path / "..tmp").symlink_to("..1")
        (tmp_path / "..tmp").rename(data)
        service.wait_until(lambda: service.verify(issuers[1].token()).status == 200)


def test_an_empty_file_is_no_fault(tmp_path, issuers):
    file = tmp_path / "issuers"
    file.write_text("")
    with Service(in_file(file)) as service:
        service.reject(issuers[0].token(), "provider_unknown")


@pytest.mark.parametrize(
    "text, reason",
    [
        ("https://a.example\n", "line 1: it names no audience"),
        ("https://a.example -", "line 1: it does not end with a newline"),
        ("https://a.example -\nhttps://a.example b\n", "line 2: its issuer is listed in line 1 already"),
        ("https://a.example\t-\n", "line 1: it has a tab"),
        ("\nhttps://a.example/{tid} -\n", "line 2: the issuer has braces"),
        ("ftp://a.example -\n", "line 1: the issuer is not a URL"),
        ("https://a.example - @b@c\n", "line 1: a word with @"),
    ],
)
def test_a_bad_line_refuses_the_file(tmp_path, text, reason):
    file = tmp_path / "issuers"
    file.write_text(text)
    config = write_config(tmp_path, {"providers": [in_file(file)]})
    ended = run("config", "check", "--config", str(config))
    assert ended.returncode == 1
    assert reason in ended.stderr.decode(), ended.stderr


def test_an_issuer_stands_once(tmp_path, issuers):
    config = write_config(tmp_path, {"providers": [provider(issuers[0]), listed(*issuers)]})
    ended = run("config", "check", "--config", str(config))
    assert ended.returncode == 1 and "have the same issuer" in ended.stderr.decode(), ended.stderr
