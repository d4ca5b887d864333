internal import NIOCore

/// A page for operators, on the admin listener: it shows what that listener's other endpoints answer, and holds nothing itself.
enum Console {
    /// Nothing is loaded but its own script and style, nothing is asked but this listener, and no page may frame it. Text
    /// can't become markup (`require-trusted-types-for`).
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// The header fields that each of its files has beside those every response has.
    static let headers: [(name: StaticString, value: String)] = [
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// One of its files, as they are built into the program.
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

        private static let pageContent = ByteBuffer(bytes: PackageResources.console_html)
        private static let styleContent = ByteBuffer(bytes: PackageResources.console_css)
        private static let scriptContent = ByteBuffer(bytes: PackageResources.console_js)
    }
}
