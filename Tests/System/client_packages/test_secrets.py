"""What an uncaught error prints, with its stack trace, and what objects print."""

import subprocess

import pytest

from client_packages.packages import CLIENTS, environment
from client_packages.test_conformance import example
from harness.stranger import Stranger, answer

HANDLE, TOKEN, NONCE = "the-handle-of-a-sign-in", "the.secret.token", "the-secret-nonce"
AUTOLOAD = (
    f"spl_autoload_register(function ($class) {{ $file = '{CLIENTS}/php/src/' . substr($class, 6) . '.php'; "
    f"require_once is_file($file) ? $file : '{CLIENTS}/php/src/Models.php'; }})"
)
UNCAUGHT = {
    "python": [
        f"import sys; sys.path.insert(0, {str(CLIENTS / 'python/src')!r})",
        "from assay_client import Assay",
        "begun = Assay(sys.argv[1]).begin('oidc')",
        "print(begun, repr(begun), [begun])",
        "Assay(sys.argv[2]).finish(*sys.argv[3:])",
    ],
    "ruby": [
        f"require '{CLIENTS}/ruby/lib/assay'",
        "begun = Assay.new(ARGV[0]).begin('oidc')",
        "puts \"#{begun} #{begun.inspect} #{[begun]}\"",
        "Assay.new(ARGV[1]).finish(*ARGV[2..])",
    ],
    "php": [
        AUTOLOAD,
        "var_dump((new Assay\\Client($argv[1]))->begin('oidc'))",
        "(new Assay\\Client($argv[2]))->finish(...array_slice($argv, 3))",
    ],
}
COMMANDS = {
    "python": ["python3", "-B", "-c"],
    "ruby": ["ruby", "-w", "-e"],
    "php": ["php", "-d", "zend.exception_ignore_args=0", "-d", "display_errors=stderr", "-r"],
}


@pytest.mark.parametrize("name", UNCAUGHT)
def test_printed_objects_and_errors_contain_no_secrets(name):
    begun = example("begin") | {"sign_in": HANDLE, "nonce": NONCE}
    program = ";\n".join(UNCAUGHT[name]) + ";"
    with Stranger(answer(201, begun)) as good, Stranger(answer(500, {"code": "internal", "detail": "d"})) as bad:
        # ruby treats everything after the program as arguments, php only what follows `--`.
        separator = ["--"] if name == "php" else []
        command = [*COMMANDS[name], program, *separator, good.url, bad.url, HANDLE, TOKEN]
        result = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    assert result.returncode != 0 and "Assay answered 500 internal" in said, said
    assert str(begun["expires_at"]) in said
    assert [secret for secret in (HANDLE, TOKEN, NONCE) if secret in said] == []
