"""Debian's Chromium, and the errors that it reports while it shows the console."""

from playwright.sync_api import Browser, Playwright

EXECUTABLE = "/usr/bin/chromium"


def launch(playwright: Playwright, *arguments: str) -> Browser:
    # Tests may run as root, which Chromium's sandbox does not support, and in containers with little shared memory.
    return playwright.chromium.launch(
        executable_path=EXECUTABLE, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *arguments]
    )


class Visit:
    """A page in its own profile, opened at a URL. `allows` is text of permitted console messages."""

    def __init__(self, browser: Browser, url: str, allows: str | None = None, **context):
        self.url = url
        self.allows = allows
        self.is_closed = False
        self.context = browser.new_context(**({"locale": "en-GB", "timezone_id": "UTC"} | context))
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.messages.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.messages.append(f"exception: {error}"))
        self.page.on("dialog", lambda dialog: (self.messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.context.on("request", lambda request: self.requests.append(request.url))
        # Records violations of the policy, because the browser's console may not show all of them.
        self.page.expose_function("assayViolation", lambda text: self.messages.append(f"violation: {text}"))
        self.page.add_init_script(
            "addEventListener('securitypolicyviolation', e => assayViolation(e.violatedDirective + ' ' + e.blockedURI))"
        )
        self.page.goto(url)

    @property
    def origin(self) -> str:
        return self.url.split("/console")[0]

    def assert_clean(self) -> None:
        """Asserts that there was no error, no violation of the policy, and no request except to the listener."""
        told = [text for text in self.messages if not (self.allows and self.allows in text)]
        assert told == []
        elsewhere = [url for url in self.requests if not url.startswith((self.origin + "/", "data:,"))]
        assert elsewhere == []

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.context.close()
