internal import HTTP
internal import NIOCore

/// A page for operators on the admin listener. It shows what the other endpoints of that listener return.
enum Console {
    /// The page loads only its own script and style, connects only to this listener, and can't be framed. Text can't
    /// become markup (`require-trusted-types-for`).
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// Header fields of the console's files, in addition to those of every response.
    static let headers: [(name: String, value: String)] = [
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// One of the console's files, which are built into the executable.
    enum File {
        case page, style, script

        var contentType: StaticString {
            switch self {
            case .page: "text/html; charset=utf-8"
            case .style: "text/css; charset=utf-8"
            case .script: "text/javascript; charset=utf-8"
            }
        }

        var content: ByteBuffer {
            switch self {
            case .page: Self.pageContent
            case .style: Self.styleContent
            case .script: Self.scriptContent
            }
        }

        private static let pageContent = ByteBuffer(bytes: Asset.consolePage.bytes)
        private static let styleContent = ByteBuffer(bytes: Asset.consoleStyle.bytes)
        private static let scriptContent = ByteBuffer(bytes: Asset.consoleScript.bytes)
    }
}
