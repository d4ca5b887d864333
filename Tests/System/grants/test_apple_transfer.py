"""`assay apple transfer`: moves an app's users to another team, with one result for each, whatever fails meanwhile."""

import dataclasses
import json
import os
import pty
import stat
import subprocess
import time

import pytest

from harness.apple import Apple, Fault
from harness.service import BINARY, environment, run, write_config
from harness.waiting import DEADLINE, poll

APP, SOLD = "com.example.app", "com.example.sold"
MIGRATION = "/auth/usermigrationinfo"


@pytest.fixture
def apple():
    with Apple() as apple:
        yield apple


@pytest.fixture
def old(apple):
    return apple.team(APP)


@pytest.fixture
def new(apple):
    return apple.team(SOLD)


@pytest.fixture
def users(apple, old):
    """Users of the app. Every second one hides their email."""
    people = [apple.user(f"user{number}", is_private_email=number % 2 == 0) for number in range(12)]
    for person in people:
        apple.native_sign_in(APP, person)
    return people


@pytest.fixture
def command(apple, tmp_path):
    """The arguments for a step, with a team's options."""

    def arguments(step: str, team, *more: str) -> list[str]:
        client_id = team.client_ids[0]
        file = tmp_path / f"AuthKey_{team.key_id}.p8"
        file.write_bytes(team.pem)
        file.chmod(0o600)
        client = {
            "id": client_id, "auth": "apple", "team_id": team.id, "key_id": team.key_id, "key_file": str(file),
        }  # fmt: skip
        directory = tmp_path / team.id
        directory.mkdir(exist_ok=True)
        config = write_config(directory, {"providers": [apple.settings(audiences=[client_id], clients=[client])]})
        return ["apple", "transfer", step, "--config", str(config), "--rate", "100", *more]

    return arguments


@pytest.fixture
def generate(command, old, new, tmp_path):
    def call(subjects: list[str], *more: str, output: str = "generated.ndjson") -> subprocess.CompletedProcess:
        options = ["--recipient-team-id", new.id, "--output", str(tmp_path / output), *more]
        return run(*command("generate", old, *options), stdin="\n".join(subjects) + "\n")

    return call


def results(tmp_path, name: str = "generated.ndjson") -> list[dict]:
    return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]


def test_users_move_to_another_team(command, generate, apple, old, new, users, tmp_path):
    result = generate([person.subject(old.id) for person in users])
    assert result.returncode == 0, result
    assert b"12 users: 12 done, 0 refused, 0 failed." in result.stderr
    assert result.stdout == b""
    assert stat.S_IMODE((tmp_path / "generated.ndjson").stat().st_mode) == 0o600
    generated = results(tmp_path)
    assert {line["subject"] for line in generated} == {person.subject(old.id) for person in users}
    assert all(set(line) == {"subject", "recipient_team_id", "outcome", "transfer_subject"} for line in generated)
    assert {(line["recipient_team_id"], line["outcome"]) for line in generated} == {(new.id, "done")}
    # One access token for all, and one request for each.
    assert [form["grant_type"] for form in apple.to("/auth/token")] == ["client_credentials"]
    assert len(apple.to(MIGRATION)) == 12

    handed_over = tmp_path / "transfer-subjects.txt"
    handed_over.write_text("\r\n".join(line["transfer_subject"] for line in generated))
    output = tmp_path / "redeemed.ndjson"
    result = run(*command("redeem", new, "--input", str(handed_over), "--output", str(output)))
    assert result.returncode == 0, result
    by_transfer_subject = {line["transfer_subject"]: line for line in results(tmp_path, output.name)}
    for person in users:
        line = next(line for line in generated if line["subject"] == person.subject(old.id))
        redeemed = by_transfer_subject[line["transfer_subject"]]
        assert redeemed == {
            "transfer_subject": line["transfer_subject"], "outcome": "done", "subject": person.subject(new.id),
            "email": person.email_for(new.id) if person.is_private_email else None,
            "is_private_email": True if person.is_private_email else None,
        }  # fmt: skip
    text = result.stdout + result.stderr + output.read_bytes() + (tmp_path / "generated.ndjson").read_bytes()
    assert b"eyJ" not in text


def test_a_user_who_has_revoked_the_app_does_not_stop_the_run(generate, apple, old, users, tmp_path):
    apple.revoke_by_person(users[3], old)
    subjects = [person.subject(old.id) for person in users]
    result = generate(subjects)
    assert result.returncode == 2
    assert b"12 users: 11 done, 1 refused, 0 failed." in result.stderr
    refused = [line for line in results(tmp_path) if line["outcome"] != "done"]
    assert [(line["subject"], line["outcome"], line["error"]) for line in refused] == [
        (subjects[3], "refused", "invalid_request")
    ]
    # The result is kept until --retry-refused.
    asked = len(apple.to(MIGRATION))
    assert generate(subjects).returncode == 2
    assert len(apple.to(MIGRATION)) == asked
    users[3].teams.add(old.id)
    assert generate(subjects, "--retry-refused").returncode == 0
    assert len(apple.to(MIGRATION)) == asked + 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500), Fault(503, headers={"Retry-After": "1"}), Fault(429, b"slow down", {"Retry-After": "1"}), Fault(200, b"<html>"),
        Fault(400, b'{"error":"invalid_client"}'), Fault(401, b'{"error":"invalid_token"}'),
    ],
    ids=lambda fault: str(fault.status) + fault.body.decode()[:20],
)  # fmt: skip
def test_temporary_faults_are_retried(generate, apple, old, users, tmp_path, fault):
    subjects = [person.subject(old.id) for person in users]

    def once(form, count):
        if form["sub"] == subjects[0] and count == 1:
            raise fault

    apple.on_migration = once
    result = generate(subjects)
    assert result.returncode == 0, result
    assert len(apple.to(MIGRATION)) == 13


def test_the_next_run_continues_after_a_persistent_fault(generate, apple, old, users, tmp_path):
    subjects = [person.subject(old.id) for person in users]

    def always(form, count):
        if form["sub"] == subjects[0]:
            raise Fault(503, headers={"Retry-After": "1"})

    apple.on_migration = always
    result = generate(subjects)
    assert result.returncode == 1
    assert b"11 done, 0 refused, 1 failed" in result.stderr and b"Run the same command again" in result.stderr
    failed = [line for line in results(tmp_path) if line["outcome"] == "failed"]
    assert [(line["subject"], line["error"]) for line in failed] == [(subjects[0], "unavailable")]
    assert len(apple.to(MIGRATION)) == 11 + 4
    apple.on_migration = lambda form, count: None
    result = generate(subjects)
    assert result.returncode == 0
    assert b"11 of 12 users already have a result" in result.stderr
    assert len(apple.to(MIGRATION)) == 11 + 4 + 1
    # Nothing is left to do, so nothing is sent.
    tokens = len(apple.to("/auth/token"))
    assert generate(subjects).returncode == 0
    assert len(apple.to("/auth/token")) == tokens


def test_a_killed_run_can_be_continued(command, generate, apple, old, new, users, tmp_path):
    subjects = [person.subject(old.id) for person in users]
    file = tmp_path / "subjects.txt"
    file.write_text("\n".join(subjects))
    output = tmp_path / "generated.ndjson"
    options = ["--recipient-team-id", new.id, "--input", str(file), "--output", str(output), "--rate", "4"]
    process = subprocess.Popen([BINARY, *command("generate", old, *options)], env=environment(), stderr=subprocess.PIPE)
    try:
        poll(lambda: output.exists() and output.read_bytes().count(b"\n") >= 2)
        # The file is locked meanwhile.
        second = generate(subjects)
        assert second.returncode == 1 and b"another run is writing it" in second.stderr
    finally:
        process.kill()
        process.communicate()
    done = len(results(tmp_path))
    assert done < 12
    # As if the process had been killed while writing a line.
    with output.open("ab") as results_file:
        results_file.write(b'{"subject":"cut o')
    before = len(apple.to(MIGRATION))
    assert generate(subjects).returncode == 0
    assert len(apple.to(MIGRATION)) - before == 12 - done
    assert len({line["subject"] for line in results(tmp_path)}) == 12


def test_the_access_token_is_renewed_before_it_expires(generate, apple, old, users):
    apple.access_lifetime = 2
    result = generate([person.subject(old.id) for person in users], "--rate", "4")
    assert result.returncode == 0, result
    assert len(apple.to("/auth/token")) >= 2
    # No request was refused because the token had expired.
    assert len(apple.to(MIGRATION)) == 12


def test_the_rate_is_limited(generate, old, users):
    begun = time.monotonic()
    assert generate([person.subject(old.id) for person in users], "--rate", "6").returncode == 0
    assert time.monotonic() - begun >= 11 / 6


def test_rejected_credentials_end_the_run_with_likely_causes(command, apple, old, new, users, tmp_path):
    wrong = dataclasses.replace(old, id="TEAM999999")
    options = ["--recipient-team-id", new.id, "--output", str(tmp_path / "generated.ndjson")]
    result = run(*command("generate", wrong, *options), stdin=users[0].subject(old.id))
    assert result.returncode == 1
    assert b"Apple rejects the client: invalid_client" in result.stderr and b"the Team ID" in result.stderr
    assert apple.to(MIGRATION) == [] and results(tmp_path) == []


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "it has no subject"),
        (["001234.abc.0219", "not a subject"], "line 2: one subject per line is expected"),
        (["a,b"], "line 1: it has several columns; add a header line in which the column of subjects is named subject"),
        (["name,mail", "Ada,a@b"], "line 1: it has several columns"),
        (["id,subject", "1,001234.abc.0219", "2,not a subject"], "line 3: one subject per line is expected"),
        (["id,subject", "1"], "line 2: one subject per line is expected"),
        (['"001234.abc', '.0219"'], "line 1: one subject per line is expected"),
        (["subject"], "it has no subject"),
        (['{"subject":"a"}'], "line 1: it is JSON"),
        (["x" * 256], "line 1"),
    ],
)
def test_invalid_input_is_refused_before_anything_is_sent(generate, apple, lines, told, tmp_path):
    result = generate(lines)
    assert result.returncode == 1
    assert told in result.stderr.decode()
    assert apple.requests == [] and not (tmp_path / "generated.ndjson").exists()


def test_blank_lines_and_duplicates_are_ignored(generate, apple, old, users):
    subject = users[0].subject(old.id)
    result = generate([subject, "", "  " + subject + " ", subject])
    assert b"1 user: 1 done" in result.stderr
    assert len(apple.to(MIGRATION)) == 1


def test_the_input_may_be_a_column_of_a_csv_file(command, generate, apple, old, new, users, tmp_path):
    """As from a spreadsheet, with a byte order mark, CR LF, and quoted names with commas, quotes and line ends."""
    one, two, three = (person.subject(old.id) for person in users[:3])
    rows = ["\ufeffid,Name,Subject,email", f'1,"Lovelace, ""Ada""",{one},', f'2,"two\nlines","{two}",b@example.com', f"3,Grace,{three},c"]
    result = generate(["\r\n".join(rows)])
    assert result.returncode == 0, result
    assert b"3 users: 3 done" in result.stderr
    assert {line["subject"] for line in results(tmp_path)} == {one, two, three}
    redeemed = tmp_path / "redeemed.ndjson"
    lines = ["transfer_subject", *(line["transfer_subject"] for line in results(tmp_path))]
    result = run(*command("redeem", new, "--output", str(redeemed)), stdin="\n".join(lines))
    assert result.returncode == 0 and b"3 users: 3 done" in result.stderr, result


def test_users_that_are_not_done_are_listed_by_line(generate, apple, old, users):
    subjects = [person.subject(old.id) for person in users]
    apple.revoke_by_person(users[3], old)

    def always(form, count):
        if form["sub"] == subjects[5]:
            raise Fault(503, headers={"Retry-After": "1"})

    apple.on_migration = always
    expected = [f"line 5: {subjects[3]}: refused (invalid_request)", f"line 7: {subjects[5]}: failed (unavailable)"]
    for _ in range(2):
        lines = generate(["subject", *subjects]).stderr.decode().splitlines()
        assert [line for line in lines if line.startswith("line ")] == expected
    apple.on_migration = lambda form, count: None
    lines = generate(["subject", *subjects]).stderr.decode().splitlines()
    assert [line for line in lines if line.startswith("line ")] == expected[:1]


def test_a_file_with_other_contents_is_not_overwritten(command, generate, apple, old, new, users, tmp_path):
    output = tmp_path / "generated.ndjson"
    for contents in ("my notes\n", '{"subject":"a","recipient_team_id":"TEAM777777","outcome":"done"}\n'):
        output.write_text(contents)
        result = generate([users[0].subject(old.id)])
        assert result.returncode == 1
        assert b"line 1 is not a result of this command" in result.stderr
        assert output.read_text() == contents
    # Results of the other step are refused too.
    output.write_text('{"subject":"a","recipient_team_id":"T","outcome":"done","transfer_subject":"b"}\n')
    assert run(*command("redeem", new, "--output", str(output)), stdin="b\n").returncode == 1
    assert generate([users[0].subject(old.id)], output="no/such/file").returncode == 1
    assert generate([users[0].subject(old.id)], "--output", "/dev/stdout").returncode == 1
    assert apple.requests == []


def test_invalid_options_are_refused(command, old, new, tmp_path):
    output = str(tmp_path / "out")
    for options in (["--recipient-team-id", "short", "--output", output], ["--recipient-team-id", new.id], ["--output", output]):
        assert run(*command("generate", old, *options), stdin="a\n").returncode == 64
    same = run(*command("generate", old, "--recipient-team-id", old.id, "--output", output), stdin="a\n")
    assert same.returncode == 1 and b"the other team's" in same.stderr
    assert run(*command("redeem", new, "--output", output, "--rate", "0"), stdin="a\n").returncode == 64
    assert not os.path.exists(output)


def test_a_terminal_shows_a_progress_bar(command, apple, old, new, users, tmp_path):
    ours, theirs = pty.openpty()
    file = tmp_path / "subjects.txt"
    file.write_text("\n".join(person.subject(old.id) for person in users))
    options = ["--recipient-team-id", new.id, "--input", str(file), "--output", str(tmp_path / "out")]
    process = subprocess.Popen([BINARY, *command("generate", old, *options)], env=environment(), stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while octets := os.read(ours, 65536):
            seen += octets
    except OSError:
        # The process has ended.
        pass
    assert process.wait(DEADLINE) == 0
    os.close(ours)
    assert b"\r[" in seen and b"[##############################] 12 of 12 users" in seen
    assert seen.rstrip().endswith(str(tmp_path / "out").encode())
