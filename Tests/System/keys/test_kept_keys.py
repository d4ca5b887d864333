"""The key archive on disk: which files a restart trusts, however they were damaged or forged."""

import collections
import json
import os
import pathlib
import random
import shutil

import pytest

from harness.issuer import KeyServer
from harness.kept import KeptFile
from harness.keys import refresh, unavailable, verdicts
from harness.kills import CacheDirectory, LargeSets, kill_while_keeping
from harness.service import Service, provider
from harness.tokens import ec_key, jws, now

OLD, NEW = ec_key("old"), ec_key("new")


def wait_until_kept(service, directory: pathlib.Path, count: int = 1) -> None:
    """Waits until this many providers' keys are on disk. They are written soon after they can be used."""
    service.wait_until(lambda: len(list(directory.glob("*.keys"))) == count)


def test_the_last_good_keys_survive_a_restart_during_an_outage(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
        assert service.accept(issuer.token())["keys"]["source"] == "network"
    issuer.discovery.status = issuer.jwks.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until_ready()
        answer = service.accept(issuer.token())
        assert answer["keys"]["source"] == "disk"
        issuer.discovery.status = issuer.jwks.status = 200
        refresh(service)
        assert service.accept(issuer.token())["keys"]["source"] == "network"


def test_archived_keys_verify_only_tokens_of_their_own_issuer(server, tmp_path):
    issuer, other = server.issuer("op", OLD), server.issuer("other", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
    other.discovery.status = 503
    with Service(provider(other), cache_directory=str(tmp_path)) as service:
        unavailable(service, other.token())


@pytest.mark.parametrize("damage", [b"", b"{}", b"\0" * 1000, None])
def test_damaged_archives_are_not_used(server, tmp_path, damage):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    for file in files:
        content = file.read_bytes()
        half = len(content) // 2
        file.write_bytes(
            damage if damage is not None else content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
        )
    issuer.discovery.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        unavailable(service, issuer.token())


@pytest.mark.parametrize("change", ["writable by all", "a link", "another provider's"])
def test_archives_that_other_users_could_have_written_are_not_used(server, tmp_path, change):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
    [file] = [file for file in tmp_path.rglob("*") if file.is_file()]
    if change == "writable by all":
        file.chmod(0o666)
    elif change == "a link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.rename(file.with_name(file.name.replace("oidc", "other")))
    issuer.discovery.status = 503
    id = "other" if change == "another provider's" else "oidc"
    with Service(provider(issuer, id), cache_directory=str(tmp_path)) as service:
        unavailable(service, issuer.token())


def test_only_the_owner_can_read_archives(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
    [file] = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert file.stat().st_mode & 0o077 == 0


def test_without_a_cache_directory_nothing_is_written(server):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer)) as service:
        service.wait_until_ready()
        assert [file.name for file in service.directory.iterdir()] == ["assay.yaml"]


def test_an_unusable_cache_directory_does_not_stop_the_service(server, tmp_path):
    issuer = server.issuer("op", OLD)
    file = tmp_path / "a file"
    file.write_text("")
    with Service(provider(issuer), cache_directory=str(file / "below")) as service:
        service.wait_until_ready()
        service.accept(issuer.token())


def test_keys_omitted_by_one_response_are_archived_with_the_new_ones(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
        before = KeptFile(tmp_path, "oidc").content
        issuer.rotate(NEW)
        service.accept(issuer.token())
        service.wait_until(lambda: KeptFile(tmp_path, "oidc").content != before)
    issuer.discovery.status = issuer.jwks.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        for key in (OLD, NEW):
            assert service.accept(jws(key, issuer.claims()))["keys"]["source"] == "disk"
        before = KeptFile(tmp_path, "oidc").content
        issuer.discovery.status = issuer.jwks.status = 200
        refresh(service, drops_omitted=True)
        service.wait_until(lambda: KeptFile(tmp_path, "oidc").content != before)
    issuer.discovery.status = issuer.jwks.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        assert service.accept(issuer.token())["keys"]["source"] == "disk"
        unavailable(service, jws(OLD, issuer.claims()))


def test_a_key_omitted_by_two_responses_in_a_row_is_dropped_despite_a_restart_between_them(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
        before = KeptFile(tmp_path, "oidc").content
        issuer.rotate(NEW)
        service.accept(issuer.token())
        service.accept(jws(OLD, issuer.claims()))
        service.wait_until(lambda: KeptFile(tmp_path, "oidc").content != before)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        service.wait_until(lambda: service.provider_state("oidc")["source"] == "network")
        service.reject(jws(OLD, issuer.claims()), "key_not_found")


# damaged, foreign, forged


def settings_of(issuers) -> list[dict]:
    return [provider(issuer, issuer.name, jwks_uri=issuer.jwks_uri) for issuer in issuers]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A directory with the archives of 250 providers, and their issuers. Their key server is down."""
    directory = tmp_path_factory.mktemp("kept")
    with KeyServer() as server:
        issuers = [server.issuer(f"op-{number:03}", OLD) for number in range(250)]
        with Service(*settings_of(issuers), cache_directory=str(directory)) as service:
            wait_until_kept(service, directory, len(issuers))
    return directory, issuers


def reasons_given(directory: pathlib.Path, issuers, refused: dict[str, str]) -> dict[str, str]:
    """Starts without a key server, asserts that only the `refused` files are rejected, and returns the logged reasons."""
    due = ["keys_unavailable" if issuer.name in refused else "disk" for issuer in issuers]
    with Service(*settings_of(issuers), cache_directory=str(directory)) as service:
        found = verdicts(service, [issuer.token() for issuer in issuers])
    entries = service.entries(level="warning", message="cached keys rejected")
    wrong = [issuer.name for issuer, *pair in zip(issuers, found, due, strict=True) if pair[0] != pair[1]]
    assert wrong == [], [refused.get(name, "whole") for name in wrong]
    assert sorted(entry["provider"] for entry in entries) == sorted(refused)
    return {refused[entry["provider"]]: entry["reason"] for entry in entries}


def damages(content: bytes, chance: random.Random) -> dict:
    """Functions that each damage the content of a file of this length in one way."""
    first_line = content.index(b"\n") + 1
    faults = {
        "one zero behind": lambda content: content + b"\0",
        "a block of zeros behind": lambda content: content + bytes(4096),
        "all zeros": lambda content: bytes(len(content)),
        "zeros from the middle": lambda content: content[: len(content) // 2].ljust(len(content), b"\0"),
        "twice": lambda content: content * 2,
        "without its first line": lambda content: content[first_line:],
        "over a mebibyte": lambda content: content + b" " * 1024 * 1024,
    }
    for length in range(len(content)):
        faults[f"cut to {length} bytes"] = lambda content, length=length: content[:length]
    for place in range(len(content)):
        # Flips every bit of the line with the checksum, and one bit of each other byte.
        for bit in range(8) if place < first_line else [chance.randrange(8)]:
            faults[f"bit {bit} of byte {place}"] = lambda content, place=place, bit=bit: (
                content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
            )
    return faults


def test_a_damaged_archive_is_never_trusted_and_never_prevents_the_start(kept, tmp_path):
    """At each start, the archives of 240 providers are damaged and those of ten are intact."""
    directory, issuers = kept
    faults = list(damages(KeptFile(directory, issuers[0].name).content, random.Random(1)).items())
    assert len(faults) > 1200
    for start in range(0, len(faults), 240):
        copy = tmp_path / str(start)
        shutil.copytree(directory, copy)
        damaged = {}
        for issuer, (name, fault) in zip(issuers, faults[start : start + 240], strict=False):
            file = KeptFile(copy, issuer.name)
            file.write(fault(file.content))
            damaged[issuer.name] = name
        assert all(reasons_given(copy, issuers, damaged).values())
        shutil.rmtree(copy)


def replaced_by(make):
    def replace(file: KeptFile, _) -> None:
        file.path.unlink()
        make(file.path)

    return replace


def jwks(*keys, **members) -> str:
    return json.dumps({"keys": list(keys)} | members)


HOUR, DAY = 3600, 86400

# Complete files, most with a correct checksum, that must be rejected.
FOREIGN = {
    "another provider's": lambda file, other: file.write(other.content),
    "another provider's by its ID": lambda file, other: file.forge(provider=other.members["provider"]),
    "another issuer's": lambda file, other: file.forge(issuer=other.members["issuer"]),
    "of an issuer one slash longer": lambda file, _: file.forge(issuer=file.members["issuer"] + "/"),
    "from another address": lambda file, other: file.forge(location=other.members["location"]),
    "of nobody": lambda file, _: file.forge(provider=None),
    "of no issuer": lambda file, _: file.forge(issuer=None),
    "from nowhere": lambda file, _: file.forge(location=None),
    "an hour from now": lambda file, _: file.forge(fetched_at=now() + HOUR),
    "an hour past its time": lambda file, _: file.forge(fetched_at=now() - file.members["lifetime"] - DAY - HOUR),
    "from 1970": lambda file, _: file.forge(fetched_at=0),
    "from before 1970": lambda file, _: file.forge(fetched_at=-(2**62)),
    "from the end of time": lambda file, _: file.forge(fetched_at=2**63 - 1),
    "from beyond it": lambda file, _: file.forge(fetched_at=2**64),
    "from no time": lambda file, _: file.forge(fetched_at=None),
    "from a time that is text": lambda file, _: file.forge(fetched_at=str(now())),
    "good for ever": lambda file, _: file.forge(lifetime=2**63 - 1),
    "good for less than nothing": lambda file, _: file.forge(lifetime=-1),
    "good for nobody knows how long": lambda file, _: file.forge(lifetime=None),
    "for no algorithms": lambda file, _: file.forge(algorithms=None),
    "without a key set": lambda file, _: file.forge(jwks=None),
    "with a key set that is no text": lambda file, _: file.forge(jwks=json.loads(file.members["jwks"])),
    "with no key": lambda file, _: file.forge(jwks=jwks()),
    "with a key for encryption": lambda file, _: file.forge(jwks=jwks(OLD.jwk(use="enc"))),
    "with a symmetric key": lambda file, _: file.forge(jwks=jwks({"kty": "oct", "k": "AAAA", "kid": "old"})),
    "with too many keys": lambda file, _: file.forge(jwks=jwks(*[{"kty": "EC"}] * 1025, OLD.jwk())),
    "with half a key set": lambda file, _: file.forge(jwks=file.members["jwks"][:-3]),
    "empty under a checksum": lambda file, _: file.forge(b""),
    "an array": lambda file, _: file.forge(b"[" + file.text + b"]"),
    "deep": lambda file, _: file.forge(file.text[:-1] + b',"x":' + b"[" * 200_000 + b"}"),
    "with a member twice": lambda file, _: file.forge(file.text[:-1] + b',"lifetime":300}'),
    "with bad UTF-8": lambda file, _: file.forge(file.text[:-1] + b',"x":"\xff"}'),
    "of another format": lambda file, _: file.write(file.content.replace(file.format.encode(), b"another-1", 1)),
    "under a checksum in capitals": lambda file, _: file.write(
        file.content.split(b"\n")[0].upper() + b"\n" + file.text
    ),
    "under a line with CR": lambda file, _: file.write(file.content.replace(b"\n", b"\r\n", 1)),
    "writable by its group": lambda file, _: file.path.chmod(0o620),
    "a directory": replaced_by(pathlib.Path.mkdir),
    "a pipe that nobody writes to": replaced_by(os.mkfifo),
    "a link to nothing": replaced_by(lambda path: path.symlink_to("nothing")),
    "a link to a device": replaced_by(lambda path: path.symlink_to("/dev/zero")),
}

# Close variants of the rejected files that must be accepted.
OWN = {
    "unchanged": lambda file, _: None,
    "under its checksum once more": lambda file, _: file.forge(),
    "four minutes from now": lambda file, _: file.forge(fetched_at=now() + 240),
    "an hour before its time is up": lambda file, _: file.forge(
        fetched_at=now() - file.members["lifetime"] - DAY + HOUR
    ),
    "with a key that cannot be used": lambda file, _: file.forge(jwks=jwks({"kty": "oct", "k": "AAAA"}, OLD.jwk())),
    "readable by all": lambda file, _: file.path.chmod(0o644),
}


def test_archives_are_trusted_only_if_provider_origin_and_age_match(kept, tmp_path):
    directory, issuers = kept
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    foreign = {}
    for number, (name, change) in enumerate((FOREIGN | OWN).items()):
        issuer = issuers[number]
        change(KeptFile(copy, issuer.name), KeptFile(directory, issuers[number + 1].name))
        if name in FOREIGN:
            foreign[issuer.name] = name

    reasons = reasons_given(copy, issuers, foreign)

    assert all(reasons.values())
    for name, word in {
        "another issuer's": "issuer",
        "from another address": "address",
        "an hour from now": "future",
        "an hour past its time": "old",
        "with no key": "key",
        "writable by its group": "other users",
    }.items():
        assert word in reasons[name], reasons[name]


def test_archived_keys_past_their_lifetime_are_stale(kept, tmp_path):
    directory, issuers = kept
    shutil.copytree(directory, tmp_path / "copy")
    file = KeptFile(tmp_path / "copy", issuers[0].name)
    file.forge(fetched_at=now() - file.members["lifetime"] - HOUR)
    with Service(*settings_of(issuers[:2]), cache_directory=str(tmp_path / "copy")) as service:
        keys = service.accept(issuers[0].token())["keys"]
        assert (keys["source"], keys["stale"]) == ("disk", True)
        assert HOUR < keys["age_seconds"] < 2 * DAY
        keys = service.accept(issuers[1].token())["keys"]
        assert (keys["source"], keys["stale"]) == ("disk", False)


def test_a_damaged_archive_is_replaced_after_the_next_fetch(server, tmp_path):
    issuer = server.issuer("op", OLD)
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        wait_until_kept(service, tmp_path)
    file = KeptFile(tmp_path, "oidc")
    file.write(file.content[:-1])
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        assert service.wait_for_entry(message="cached keys rejected")["provider"] == "oidc"
        assert service.accept(issuer.token())["keys"]["source"] == "network"
        service.wait_until(lambda: file.path.read_bytes() != file.content[:-1])
    issuer.discovery.status = 503
    with Service(provider(issuer), cache_directory=str(tmp_path)) as service:
        assert service.accept(issuer.token())["keys"]["source"] == "disk"


# killed


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_during_a_write_never_leaves_a_partial_set(tmp_path, seed):
    chance = random.Random(seed)
    sets = LargeSets(chance)
    directories, met = [], collections.Counter()
    with KeyServer() as server:
        issuers = [server.issuer(f"op-{number}", OLD) for number in range(6)]
        settings = [provider(issuer, issuer.name, jwks_uri=issuer.jwks_uri) for issuer in issuers]
        for number in range(50):
            # Occasionally, nothing has been written yet.
            earlier = directories[-1] if number % 10 else None
            directory = CacheDirectory(tmp_path / str(number), issuers, earlier)
            sets.publish(number, issuers)
            kill_while_keeping(directory, issuers, settings, chance)
            met[directory.take_note(number)] += 1
            directories.append(directory)

        # Files left behind by the kills do no harm.
        last = CacheDirectory(tmp_path / "last", issuers, directories[-1])
        with Service(*settings, cache_directory=str(last.path)) as service:
            service.wait_until(lambda: last.progress == 2 * len(issuers))
        assert sorted(file.name for file in last.path.iterdir()) == sorted(f"{i.name}.keys" for i in issuers)
        last.take_note(number)
        directories.append(last)
    print(f"seed {seed}: {dict(met)}")
    # Otherwise, the kills came too early or too late to show anything.
    assert met["within a file"] + met["between two files"] >= 10, met

    # The key server is down now: connections are refused, so the keys must come from the files.
    for directory in directories:
        tokens, expected = [], []
        for issuer in issuers:
            number = directory.held[issuer.name]
            tokens += sets.tokens(number or 0, issuer)
            expected += ["keys_unavailable" if number is None else "disk"] * 2
        with Service(*settings, cache_directory=str(directory.path)) as service:
            assert verdicts(service, tokens) == expected, directory.path
            assert service.entries(message="cached keys rejected") == []
        shutil.rmtree(directory.path)
