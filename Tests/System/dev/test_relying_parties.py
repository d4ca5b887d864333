"""Independent client libraries as relying parties of the development provider: it behaves like a real provider."""

import json
import secrets
import subprocess
import urllib.parse
import urllib.request

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet
from requests_oauthlib import OAuth2Session as OAuthlibSession

from harness.waiting import free_port, poll

CLIENTS = {
    "apple": ("com.example.app", "client_secret_post"),
    "google": ("example-client-id.apps.example.com", "client_secret_post"),
    "microsoft": ("11111111-2222-4333-8444-555555555555", "client_secret_post"),
    "oidc": ("example-client", "client_secret_basic"),
}
CALLBACK = "http://localhost:5000/authorize"


@pytest.fixture(autouse=True)
def without_tls(monkeypatch):
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    monkeypatch.setenv("OAUTHLIB_RELAX_TOKEN_SCOPE", "1")


def discovered(dev, provider: str) -> dict:
    url = f"http://{dev.issuer_address}/{provider}/.well-known/openid-configuration"
    with urllib.request.urlopen(url) as response:
        return json.load(response)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def press_sign_in(url: str, person: str = "alex") -> str:
    """Submits the provider's form as a browser does; returns the URL of the redirect."""
    form = urllib.parse.urlencode({"person": person, "action": "sign-in"}).encode()
    try:
        urllib.request.build_opener(NoRedirect).open(url, form)
    except urllib.error.HTTPError as redirect:
        return redirect.headers["Location"]
    raise AssertionError("no redirect")


@pytest.mark.parametrize("provider", ["google", "microsoft", "oidc"])
def test_authlib_signs_users_in(dev, provider):
    metadata = discovered(dev, provider)
    client_id, method = CLIENTS[provider]
    session = OAuth2Session(
        client_id, "anything", scope="openid email profile", redirect_uri=CALLBACK, token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method, code_challenge_method="S256",
    )  # fmt: skip
    verifier = "v" * 64
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], nonce="n", code_verifier=verifier)
    response = press_sign_in(url)
    token = session.fetch_token(metadata["token_endpoint"], authorization_response=response, code_verifier=verifier, state=state)
    with urllib.request.urlopen(metadata["jwks_uri"]) as answer:
        keys = KeySet.import_key_set(json.load(answer))
    claims = jwt.decode(token["id_token"], keys, algorithms=metadata["id_token_signing_alg_values_supported"]).claims
    assert claims["aud"] == client_id and claims["nonce"] == "n" and claims["email"] == "alex@gmail.com"
    if provider != "microsoft":
        assert claims["iss"] == metadata["issuer"]
    user = session.get(metadata["userinfo_endpoint"]).json()
    assert user["sub"] == claims["sub"] and user["name"] == "Alex Sample"
    renewed = session.refresh_token(metadata["token_endpoint"])
    assert renewed["access_token"] != token["access_token"]
    if "revocation_endpoint" in metadata:
        refresh = renewed.get("refresh_token") or token["refresh_token"]
        assert session.revoke_token(metadata["revocation_endpoint"], refresh).ok


@pytest.mark.parametrize("provider", ["google", "oidc"])
def test_oauthlib_signs_users_in(dev, provider):
    metadata = discovered(dev, provider)
    session = OAuthlibSession(CLIENTS[provider][0], scope=["openid", "email"], redirect_uri=CALLBACK, pkce="S256")
    url, _ = session.authorization_url(metadata["authorization_endpoint"], nonce="n")
    how = {"include_client_id": True} if CLIENTS[provider][1] == "client_secret_post" else {}
    token = session.fetch_token(
        metadata["token_endpoint"], authorization_response=press_sign_in(url), client_secret="anything", **how
    )
    assert token["id_token"] and session.get(metadata["userinfo_endpoint"]).json()["email"] == "alex@gmail.com"


def test_mozilla_django_oidc_signs_users_in(dev, monkeypatch):
    """A Django project with the library's settings for an OpenID Provider."""
    import django
    from django.conf import settings

    # Other tests' browsers run an event loop in this thread.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    metadata = discovered(dev, "oidc")
    settings.configure(
        SECRET_KEY="s",
        ALLOWED_HOSTS=["localhost"],
        ROOT_URLCONF="dev.django_urls",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "mozilla_django_oidc"],
        MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"],
        AUTHENTICATION_BACKENDS=["mozilla_django_oidc.auth.OIDCAuthenticationBackend"],
        OIDC_RP_CLIENT_ID="example-client",
        OIDC_RP_CLIENT_SECRET="anything",
        OIDC_RP_SIGN_ALGO="RS256",
        OIDC_TOKEN_USE_BASIC_AUTH=True,
        OIDC_USE_PKCE=True,
        OIDC_OP_AUTHORIZATION_ENDPOINT=metadata["authorization_endpoint"],
        OIDC_OP_TOKEN_ENDPOINT=metadata["token_endpoint"],
        OIDC_OP_USER_ENDPOINT=metadata["userinfo_endpoint"],
        OIDC_OP_JWKS_ENDPOINT=metadata["jwks_uri"],
        LOGIN_REDIRECT_URL="/in",
        LOGIN_REDIRECT_URL_FAILURE="/out",
    )
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0, run_syncdb=True)
    browser = Client(SERVER_NAME="localhost")
    begun = browser.get("/oidc/authenticate/")
    assert begun.status_code == 302
    back = urllib.parse.urlsplit(press_sign_in(begun["Location"]))
    finished = browser.get(f"{back.path}?{back.query}")
    assert (finished.status_code, finished["Location"]) == (302, "/in")
    assert [user.email for user in User.objects.all()] == ["alex@gmail.com"]


APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
DefaultRuntimeDir {folder}
Listen 127.0.0.1:{port}
DocumentRoot {folder}/pages
ErrorLog {folder}/log
{modules}
OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID example-client
OIDCClientSecret anything
OIDCRedirectURI http://localhost:{port}/callback
OIDCCryptoPassphrase {secret}
OIDCScope "openid email profile"
OIDCPKCEMethod S256
OIDCRemoteUserClaim email
<Location />
  AuthType openid-connect
  Require valid-user
  Header set X-User expr=%{{REMOTE_USER}}
</Location>
"""
MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "headers", "auth_openidc"]


def test_apache_signs_users_in(dev, tmp_path):
    """A page protected by Debian's mod_auth_openidc."""
    port = free_port()
    lines = [f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES]
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/in.html").write_text("inside")
    tmp_path.chmod(0o755)
    (tmp_path / "conf").write_text(
        APACHE.format(
            folder=tmp_path, port=port, issuer=f"http://{dev.issuer_address}/oidc", secret=secrets.token_hex(),
            modules="\n".join(lines),
        )
    )  # fmt: skip
    with subprocess.Popen(["apache2", "-f", str(tmp_path / "conf"), "-DFOREGROUND"], stderr=subprocess.PIPE) as apache:
        try:
            browser = requests.Session()
            url = f"http://localhost:{port}/in.html"

            def begun():
                try:
                    return browser.get(url, allow_redirects=False)
                except requests.ConnectionError:
                    assert apache.poll() is None, apache.stderr.read()
                    return None

            begin = poll(begun)
            assert begin.status_code == 302, (tmp_path / "log").read_text()
            page = browser.get(press_sign_in(begin.headers["Location"]))
            assert (page.url, page.text) == (url, "inside"), (tmp_path / "log").read_text()
            assert page.headers["X-User"] == "alex@gmail.com"
        finally:
            apache.terminate()
