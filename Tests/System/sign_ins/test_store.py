"""The replay store that instances share: a real Valkey or Redis, stopped, restarted, frozen and full."""

import concurrent.futures
import contextlib
import json
import threading
import time

import pytest

from grants.grants import with_client
from harness.certificates import Authority
from harness.metrics import Metrics
from harness.service import Service, provider, run
from harness.store import SERVERS, SLEEPY, Cluster, Store
from harness.token_endpoint import TokenEndpoint, error

from .calls import Caller, begin, finish, refused


@pytest.fixture(scope="module")
def key_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "sign-ins.key"
    file.write_bytes(run("key", "new").stdout)
    return str(file)


def replica(issuer, key_file, store: Store, /, limits: dict | None = None, **settings) -> Service:
    sign_ins = {"key_files": [key_file], "store": {"url": store.url} | settings}
    return Service(provider(issuer), sign_ins=sign_ins, **({"limits": limits} if limits else {}))


def signed_in(service: Service, issuer) -> tuple[dict, str]:
    begun = begin(service)
    return begun, issuer.token(nonce=begun["nonce"])


# The timeout of a claim, and a margin for a busy machine, in seconds.
TIMEOUT, SLACK = 0.25, 1.0


@contextlib.contextmanager
def at_most(seconds: float):
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds + SLACK


def wait_for_store(service: Service, issuer) -> None:
    """Waits until a sign-in can be finished, because the connection is opened in the background."""

    def finishes() -> bool:
        return finish(service, *signed_in(service, issuer)).status == 200

    service.wait_until(finishes)


@pytest.mark.parametrize("server_name", SERVERS)
def test_two_instances_finish_a_sign_in_only_once(server, key_file, tmp_path, server_name):
    issuer = server.issuer("store")
    with (
        Store(tmp_path / "store", server=server_name) as store,
        replica(issuer, key_file, store) as one,
        replica(issuer, key_file, store) as other,
    ):
        for each in (one, other):
            wait_for_store(each, issuer)
        begun, token = signed_in(one, issuer)
        assert finish(other, begun, token).status == 200
        refused(finish(one, begun, token), "sign_in_replayed", spent=True)
        for key in store.keys():
            assert key.startswith("assay:") and len(key) == len("assay:") + 32
            left = int(store.command("TTL", key).strip(":\r\n"))
            assert 600 < left <= 900


def test_an_outage_refuses_finishes_at_once_and_affects_nothing_else(server, key_file, tmp_path):
    issuer = server.issuer("outage")
    with Store(tmp_path / "store") as store, replica(issuer, key_file, store) as service:
        wait_for_store(service, issuer)
        begun, token = signed_in(service, issuer)
        store.stop()
        service.wait_until(lambda: finish(service, begun, token).code == "store_unavailable")
        refused(finish(service, begun, token), "store_unavailable")
        service.accept(token, nonce=begun["nonce"])
        assert service.api.get("/readyz").status == 200
        store.start()
        service.wait_until(lambda: finish(service, begun, token).status == 200)


@pytest.mark.parametrize("server_name", SERVERS)
def test_a_claim_without_a_reply_may_have_spent_the_sign_in(server, key_file, tmp_path, server_name):
    issuer = server.issuer("frozen")
    with Store(tmp_path / "store", server=server_name) as store, replica(issuer, key_file, store) as service:
        wait_for_store(service, issuer)
        begun, token = signed_in(service, issuer)
        store.freeze()
        with at_most(TIMEOUT):
            refused(finish(service, begun, token), "store_unavailable", spent=True)
        # Later claims fail without waiting, and plain verifications are not affected.
        for _ in range(5):
            with at_most(TIMEOUT / 2):
                refused(finish(service, *signed_in(service, issuer)), "store_unavailable")
            with at_most(TIMEOUT / 2):
                service.accept(token, nonce=begun["nonce"])
        store.thaw()
        service.wait_until(lambda: finish(service, *signed_in(service, issuer)).status == 200)
        refused(finish(service, begun, token), "sign_in_replayed", spent=True)


def test_a_finish_that_is_shed_claims_nothing(server, key_file, tmp_path):
    issuer = server.issuer("overload")
    limits = {"max_in_flight": 1}
    with Store(tmp_path / "store") as store, replica(issuer, key_file, store, timeout="5s", limits=limits) as service:
        wait_for_store(service, issuer)
        first, second = signed_in(service, issuer), signed_in(service, issuer)
        store.freeze()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(finish, Caller(service), *first)
            service.wait_until(lambda: Metrics(service.admin.get("/metrics").text).value("assay_requests_in_flight") == 1)
            refused(finish(service, *second), "overloaded")
            store.thaw()
            assert waiting.result().status == 200
        assert finish(service, *second).status == 200


def test_a_hanging_store_delays_a_finish_by_at_most_the_timeout(server, key_file, tmp_path):
    issuer = server.issuer("sleepy")
    with Store(tmp_path / "store", *SLEEPY) as store, replica(issuer, key_file, store) as service:
        wait_for_store(service, issuer)
        sign_ins = [signed_in(service, issuer) for _ in range(8)]
        store.sleep(0.6)

        def one(sign_in):
            with at_most(TIMEOUT):
                return finish(Caller(service), *sign_in)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            for response in pool.map(one, sign_ins):
                assert response.code == "store_unavailable"
        service.wait_until(lambda: finish(service, *signed_in(service, issuer)).status == 200)
        # The claims that had been sent have succeeded meanwhile.
        for sign_in in sign_ins:
            response = finish(service, *sign_in)
            assert response.status == 200 or response.code == "sign_in_replayed"


@pytest.mark.parametrize("server_name", SERVERS)
def test_only_one_of_a_thousand_finishes_at_four_processes_succeeds(server, key_file, tmp_path, server_name):
    issuer = server.issuer("thousand")
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Store(tmp_path / "store", server=server_name))
        services = [stack.enter_context(replica(issuer, key_file, store, timeout="10s")) for _ in range(4)]
        for service in services:
            wait_for_store(service, issuer)
        begun, token = signed_in(services[0], issuer)

        def some(number: int) -> list[int]:
            caller = Caller(services[number % 4])
            return [finish(caller, begun, token).status for _ in range(1000 // 20)]

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            statuses = [status for statuses in pool.map(some, range(20)) for status in statuses]
        assert len(statuses) == 1000
        assert statuses.count(200) == 1 and statuses.count(422) == 999


def test_tls_with_a_ca_and_a_client_certificate_is_supported(server, key_file, tmp_path):
    issuer = server.issuer("store-tls")
    authority, stranger = Authority(tmp_path), Authority(tmp_path, "Strangers")
    own, client = authority.server_file("127.0.0.1"), authority.client_file()
    tls = ("--tls-cert-file", own, "--tls-key-file", own, "--tls-ca-cert-file", authority.certificate_file)
    options = [str(option) for option in (*tls, "--tls-auth-clients", "yes")]
    with Store(tmp_path / "store", *options, tls=True) as store:
        trusted = {"ca_file": str(authority.certificate_file)}
        shown = {"certificate_file": str(client), "key_file": str(client)}
        with replica(issuer, key_file, store, **trusted, **shown) as service:
            wait_for_store(service, issuer)
            store.freeze()
            with at_most(TIMEOUT):
                refused(finish(service, *signed_in(service, issuer)), "store_unavailable", spent=True)
            store.thaw()
            wait_for_store(service, issuer)
        with replica(issuer, key_file, store, **trusted) as service:
            reason = service.wait_for_entry(message="store unreachable")["reason"]
            assert reason == "TLS: the store requires a client certificate (certificate_file, key_file)"
        with replica(issuer, key_file, store, ca_file=str(stranger.certificate_file), **shown) as service:
            reason = service.wait_for_entry(message="store unreachable")["reason"]
            assert reason == "TLS: the store's certificate is not trusted, or not valid now"
            refused(finish(service, *signed_in(service, issuer)), "store_unavailable")
        # Changed TLS files are reloaded.
        renewed = tmp_path / "authorities.pem"
        renewed.write_bytes(stranger.certificate_file.read_bytes())
        with replica(issuer, key_file, store, ca_file=str(renewed), **shown) as service:
            service.wait_for_entry(message="store unreachable")
            renewed.write_text("none")
            reason = service.wait_for_entry(message="sign-in files invalid, still using the previous ones")["reason"]
            assert "TLS" in reason
            renewed.write_bytes(authority.certificate_file.read_bytes())
            wait_for_store(service, issuer)


# MARK: Failover


def test_a_replicated_claim_survives_a_failover(server, key_file, tmp_path):
    issuer = server.issuer("failover")
    with Store(tmp_path / "primary") as primary, Store(tmp_path / "replica") as copy:
        copy.follow(primary)
        with replica(issuer, key_file, primary, replicas=1) as before, replica(issuer, key_file, copy) as after:
            wait_for_store(before, issuer)
            begun, token = signed_in(before, issuer)
            assert finish(before, begun, token).status == 200
            primary.stop()
            assert copy.command("REPLICAOF", "NO", "ONE").startswith("+OK")
            wait_for_store(after, issuer)
            refused(finish(after, begun, token), "sign_in_replayed", spent=True)


def test_a_failover_may_lose_claims_that_were_not_replicated(server, key_file, tmp_path):
    """The documented risk: without `replicas`, claims that the replica has not received can be made again."""
    issuer = server.issuer("window")
    with Store(tmp_path / "primary") as primary, Store(tmp_path / "replica") as copy:
        copy.follow(primary)
        with (
            replica(issuer, key_file, primary) as before,
            replica(issuer, key_file, primary, replicas=1) as careful,
            replica(issuer, key_file, copy) as after,
        ):
            wait_for_store(before, issuer)
            wait_for_store(careful, issuer)
            # From here on, the replica receives nothing, not even data in flight.
            copy.freeze()
            primary.command("CLIENT", "KILL", "TYPE", "replica")
            begun, token = signed_in(before, issuer)
            assert finish(before, begun, token).status == 200
            with at_most(TIMEOUT):
                refused(finish(careful, *signed_in(before, issuer)), "store_unavailable", spent=True)
            primary.stop()
            copy.thaw()
            copy.command("REPLICAOF", "NO", "ONE")
            wait_for_store(after, issuer)
            assert finish(after, begun, token).status == 200


def test_a_demoted_primary_accepts_no_claims(server, key_file, tmp_path):
    issuer = server.issuer("demoted")
    with Store(tmp_path / "old") as old, Store(tmp_path / "new") as new, replica(issuer, key_file, old) as service:
        wait_for_store(service, issuer)
        begun, token = signed_in(service, issuer)
        old.follow(new)
        for _ in range(3):
            refused(finish(service, begun, token), "store_unavailable")
        service.wait_for_entry(message="store refused", reason="connected to a replica; set sign_ins.store.url to the primary")
        assert old.command("REPLICAOF", "NO", "ONE").startswith("+OK")
        service.wait_until(lambda: finish(service, begun, token).status == 200)


@pytest.mark.parametrize("server_name", SERVERS)
def test_sign_ins_are_finished_while_a_cluster_moves_a_slot(server, key_file, tmp_path, server_name):
    issuer = server.issuer("cluster")
    # The text in braces puts all keys into one slot, so that all of them move.
    prefix = "assay:{sign-ins}:"
    with Cluster(tmp_path, server_name) as cluster:
        slot = cluster.slot(prefix)
        with replica(issuer, key_file, cluster.nodes[0], prefix=prefix, timeout="10s") as service:
            wait_for_store(service, issuer)
            is_over = threading.Event()

            def sign_in_until_over(_) -> list:
                caller, finished = Caller(service), []
                while not is_over.is_set():
                    begun, token = signed_in(caller, issuer)
                    response = finish(caller, begun, token)
                    assert response.status == 200, response
                    finished.append((begun, token))
                return finished

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                running = [pool.submit(sign_in_until_over, None) for _ in range(4)]
                try:
                    for target in (1, 2, 0, 2, 1):
                        if target != cluster.owner(slot):
                            cluster.move(slot, target)
                finally:
                    is_over.set()
                finished = [sign_in for each in running for sign_in in each.result()]
            assert finished
            for begun, token in finished:
                refused(finish(service, begun, token), "sign_in_replayed", spent=True)


def state(service: Service) -> str:
    """The store's state, as `/readyz` and the metrics say."""
    found = service.api.get("/readyz").json["store"]["state"]
    metrics = Metrics(service.admin.get("/metrics").text)
    # Each event loop has its own connection, and the metrics say what the worst of them sees.
    if metrics.value("assay_store_state", state=found) != 1:
        return "changing"
    assert metrics.value("assay_store_up") == (1 if found == "ok" else 0)
    return found


def wait_for_state(service: Service, expected: str) -> None:
    service.wait_until(lambda: state(service) == expected)


@pytest.mark.parametrize("server_name", SERVERS)
@pytest.mark.parametrize("forbidden", [[], ["-config"]], ids=["CONFIG GET", "INFO"])
def test_a_store_that_evicts_is_refused_until_it_no_longer_does(server, key_file, tmp_path, server_name, forbidden):
    issuer = server.issuer("evicting")
    # Later options win. The test itself uses another user.
    options = ["--maxmemory-policy", "allkeys-lru", "--user", "assay", "on", ">secret", "~*", "+@all", *forbidden]
    password = tmp_path / "password"
    password.write_text("secret")
    user = {"username": "assay", "password_file": str(password)}
    with (
        Store(tmp_path / "store", *options, server=server_name) as store,
        replica(issuer, key_file, store, **user) as service,
    ):
        wait_for_state(service, "evicting")
        begun, token = signed_in(service, issuer)
        refused(finish(service, begun, token), "store_unavailable")
        reason = service.wait_for_entry(message="store refused")["reason"]
        assert reason.startswith("maxmemory-policy is allkeys-lru") and "noeviction" in reason
        assert service.api.get("/readyz").status == 200 and not store.keys()
        store.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        wait_for_state(service, "ok")
        assert finish(service, begun, token).status == 200
        service.wait_for_entry(message="store usable again")
        # A new connection is asked again.
        store.command("CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
        store.command("CLIENT", "KILL", "TYPE", "normal")
        wait_for_state(service, "evicting")
        refused(finish(service, *signed_in(service, issuer)), "store_unavailable")


def test_a_store_that_evicts_can_be_allowed(server, key_file, tmp_path):
    issuer = server.issuer("allowed")
    with (
        Store(tmp_path / "store", "--maxmemory-policy", "allkeys-lru") as store,
        replica(issuer, key_file, store, allow_eviction=True) as service,
    ):
        warnings = [entry["setting"] for entry in service.entries(message="configuration warning")]
        assert any(setting.startswith("sign_ins.store.allow_eviction") for setting in warnings)
        wait_for_store(service, issuer)
        assert state(service) == "ok"


def test_a_store_that_does_not_say_whether_it_evicts_is_used_with_a_warning(server, key_file, tmp_path):
    issuer = server.issuer("unknown-eviction")
    password = tmp_path / "password"
    password.write_text("secret")
    acl = ("--user", "assay", "on", ">secret", "~assay:*", "+set", "+get", "+ping")
    with (
        Store(tmp_path / "store", "--maxmemory-policy", "allkeys-lru", *acl) as store,
        replica(issuer, key_file, store, username="assay", password_file=str(password)) as service,
    ):
        wait_for_store(service, issuer)
        assert "neither CONFIG GET nor INFO shows" in service.wait_for_entry(message="store not checked")["reason"]


@pytest.mark.parametrize("server_name", SERVERS)
def test_a_read_only_replica_is_refused_until_it_is_promoted(server, key_file, tmp_path, server_name):
    issuer = server.issuer("read-only")
    with (
        Store(tmp_path / "primary", server=server_name) as primary,
        Store(tmp_path / "replica", server=server_name) as copy,
    ):
        copy.follow(primary)
        with replica(issuer, key_file, copy) as service:
            wait_for_state(service, "read_only")
            begun, token = signed_in(service, issuer)
            refused(finish(service, begun, token), "store_unavailable")
            service.wait_for_entry(message="store refused", reason="connected to a replica; set sign_ins.store.url to the primary")
            copy.command("REPLICAOF", "NO", "ONE")
            wait_for_state(service, "ok")
            assert finish(service, begun, token).status == 200


def test_how_full_a_store_is(server, key_file, tmp_path):
    issuer = server.issuer("filling")
    with (
        Store(tmp_path / "store", "--maxmemory", "1gb") as store,
        replica(issuer, key_file, store) as service,
    ):
        wait_for_store(service, issuer)
        ratio = Metrics(service.admin.get("/metrics").text).value("assay_store_used_ratio")
        assert 0 < ratio < 0.1
        store.command("CONFIG", "SET", "maxmemory", "1")
        store.command("CLIENT", "KILL", "TYPE", "normal")
        service.wait_until(lambda: Metrics(service.admin.get("/metrics").text).value("assay_store_used_ratio") == 1)


@pytest.mark.parametrize("server_name", SERVERS)
def test_a_refused_code_is_sent_once_by_all_instances_and_its_record_goes_soon(server, key_file, tmp_path, server_name):
    issuer = server.issuer("refused-code")
    with TokenEndpoint() as endpoint, Store(tmp_path / "store", server=server_name) as store:
        sign_ins = {"key_files": [key_file], "store": {"url": store.url}}
        settings = with_client(issuer, endpoint, tmp_path)
        with Service(settings, sign_ins=sign_ins) as one, Service(settings, sign_ins=sign_ins) as other:
            for each in (one, other):
                each.wait_until_ready()
                wait_for_state(each, "ok")
            endpoint.always(error("invalid_grant"))
            begun = begin(one)
            refused(finish(one, begun, None, code="junk"), "grant_invalid", spent=True)
            (key,) = store.keys()
            # The answer does not wait for this.
            one.wait_until(lambda: 0 < int(store.command("PTTL", key).strip(":\r\n")) <= 60_000)
            for each in (one, other):
                refused(finish(each, begun, None, code="junk"), "sign_in_replayed", spent=True)
            # After the record, the instance that knows still refuses.
            store.command("DEL", key)
            refused(finish(one, begun, None, code="junk"), "sign_in_replayed", spent=True)
            assert endpoint.received() == 1


def test_a_full_store_refuses_claims_without_spending_the_sign_in(server, key_file, tmp_path):
    issuer = server.issuer("full")
    with Store(tmp_path / "store") as store, replica(issuer, key_file, store) as service:
        wait_for_store(service, issuer)
        begun, token = signed_in(service, issuer)
        store.command("CONFIG", "SET", "maxmemory", "1")
        refused(finish(service, begun, token), "store_unavailable")
        store.command("CONFIG", "SET", "maxmemory", "0")
        assert finish(service, begun, token).status == 200


def test_a_claim_with_too_few_replicas_may_have_spent_the_sign_in(server, key_file, tmp_path):
    issuer = server.issuer("lonely")
    with Store(tmp_path / "store") as store, replica(issuer, key_file, store, replicas=1) as service:
        service.wait_until(
            lambda: finish(service, *signed_in(service, issuer)).json.get("spent") is True
        )
        begun, token = signed_in(service, issuer)
        refused(finish(service, begun, token), "store_unavailable", spent=True)
        # Where a slow machine broke the connection, no claim is made for a moment.
        service.wait_until(lambda: finish(service, begun, token).code == "sign_in_replayed")
        refused(finish(service, begun, token), "sign_in_replayed", spent=True)
        arguments = ("--replicaof", "127.0.0.1", str(store.port))
        with Store(tmp_path / "replica", *arguments):
            service.wait_until(lambda: finish(service, *signed_in(service, issuer)).status == 200)


def test_user_name_and_password_are_supported(server, key_file, tmp_path):
    issuer = server.issuer("acl")
    password = tmp_path / "password"
    password.write_text("canary-password\n")
    acl = ("--user", "assay", "on", ">canary-password", "~assay:*", "+set", "+get", "+ping")
    with (
        Store(tmp_path / "store", *acl, "--requirepass", "other") as store,
        replica(issuer, key_file, store, username="assay", password_file=str(password)) as service,
    ):
        wait_for_store(service, issuer)
        service.hides("canary")
    password.write_text("wrong\n")
    with (
        Store(tmp_path / "store-2", *acl, "--requirepass", "other") as store,
        replica(issuer, key_file, store, username="assay", password_file=str(password)) as service,
    ):
        service.wait_for_entry(message="store unreachable", reason="the store refused: WRONGPASS")
        refused(finish(service, *signed_in(service, issuer)), "store_unavailable")


def test_a_changed_password_file_is_reloaded(server, key_file, tmp_path):
    issuer = server.issuer("password")
    password = tmp_path / "password"
    password.write_text("first")
    with (
        Store(tmp_path / "store", "--requirepass", "second") as store,
        replica(issuer, key_file, store, password_file=str(password)) as service,
    ):
        service.wait_for_entry(message="store unreachable", reason="the store refused: WRONGPASS")
        password.write_text("second")
        wait_for_store(service, issuer)
        service.wait_for_entry(message="store usable again")


def test_config_check_reports_on_the_store(server, key_file, tmp_path):
    issuer = server.issuer("live-check")
    with Store(tmp_path / "store") as store, replica(issuer, key_file, store) as service:

        def found(*arguments) -> tuple[int, list[str]]:
            checked = run("config", "check", "--live", "--config", str(service.config), *arguments)
            lines = checked.stdout.decode().splitlines()
            return checked.returncode, [line for line in lines if line.startswith("sign_ins.store")]

        code, lines = found()
        assert code == 0
        assert [line.split()[1] for line in lines] == ["ok", "ok", "warning"]
        store.command("CONFIG", "SET", "appendonly", "yes")
        store.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        code, lines = found()
        assert code == 1
        assert [line.split()[1] for line in lines] == ["ok", "failure", "ok"]
        assert "maxmemory-policy is allkeys-lru" in lines[1]
        report = json.loads(run("config", "check", "--live", "--json", "--config", str(service.config)).stdout)
        assert report["store"]["could_serve"] is False and len(report["store"]["findings"]) == 3
        store.stop()
        code, lines = found()
        assert code == 1 and lines == ["sign_ins.store  failure  can't be used: the connection was refused"]
