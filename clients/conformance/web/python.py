"""A site with a framework's adapter: reads requests as JSON, one per line, and writes responses.

    python.py flask|django|fastapi ASSAY
"""

import json
import sys

from assay_client import Assay, FinishedSignIn

ORIGIN, CLIENTS = "https://example.com", {"oidc": "client", "down": "client"}
framework, assay = sys.argv[1], Assay(sys.argv[2], api_key=sys.argv[3], retry_for=0)


def told(finished: FinishedSignIn) -> str:
    return json.dumps({"subject": finished.identity.subject, "context": finished.context})


if framework == "flask":
    import flask
    import werkzeug.test

    from assay_client.flask import sign_ins

    site = flask.Flask(__name__)
    site.register_blueprint(sign_ins(assay, ORIGIN, CLIENTS, told))
    browser = werkzeug.test.Client(site, use_cookies=False)
elif framework == "django":
    import django.conf
    import django.core.wsgi
    import django.http
    import werkzeug.test

    from assay_client.django import sign_ins

    django.conf.settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="of the test")
    urlpatterns = sign_ins(assay, ORIGIN, CLIENTS, lambda _, finished: django.http.HttpResponse(told(finished)))
    browser = werkzeug.test.Client(django.core.wsgi.get_wsgi_application(), use_cookies=False)
else:
    import fastapi
    import fastapi.testclient

    from assay_client.fastapi import sign_ins

    site = fastapi.FastAPI()
    site.include_router(sign_ins(assay, ORIGIN, CLIENTS, lambda _, finished: fastapi.Response(told(finished))))
    browser = fastapi.testclient.TestClient(site, follow_redirects=False)

for line in sys.stdin:
    asked = json.loads(line)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": asked["cookie"].encode("latin-1") if framework == "fastapi" else asked["cookie"]}
    if framework == "fastapi":
        response = browser.request(asked["method"], asked["path"], content=asked["body"], headers=headers)
        fields = response.headers.multi_items()
        browser.cookies.clear()
    else:
        response = browser.open(asked["path"], method=asked["method"], data=asked["body"], headers=headers)
        fields = list(response.headers.items())
    cookies = [value for name, value in fields if name.lower() == "set-cookie"]
    location = next((value for name, value in fields if name.lower() == "location"), None)
    said = {"status": response.status_code, "location": location, "cookies": cookies, "body": response.text}
    print(json.dumps(said), flush=True)
