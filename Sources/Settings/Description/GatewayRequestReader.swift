private import Bytes
internal import IDToken
internal import Verification

/// Reads a policy's `request_url`.
enum RequestURLReader {
    private static let origin = Setting(
        "origin",
        ValueType(
            expected: "an origin such as https://api.example.com (http only for loopback hosts), without a path",
            form: .text(), parse: normalized, text: { $0 }),
        isRequired: true,
        "The scheme, host and port under which clients call the API. The header `Host` is never used, because it is the client's."
    )
    private static let method = part(
        "method",
        "Where the gateway puts the client's method: a header that it sets, or `request`, if it asks with that method.")
    private static let path = part(
        "path",
        "Where the gateway puts the path that the client called: a header that it sets, or `request`, if it asks below the policy's own path. A query is ignored."
    )

    static let description = SettingDescription(
        section: "request_url", [origin.description, method, path],
        "Turns on [DPoP proofs](gateways.md#tokens-bound-to-a-key) for this policy, and says how the gateway names the client's request, which a proof must name too. `Authorization` may then have the scheme `DPoP`. A request without one of these headers, or with it twice, is answered with 503."
    )

    private static let header = Setting("header", ValueType.fieldName, "A header's name.")
    private static let request = "request"

    private static func part(_ name: String, _ help: String) -> SettingDescription {
        SettingDescription(
            name: name, expected: "a mapping with header, or request",
            form: .either(.mapping(of: .text()), .words([request])), help: help, isRequired: true)
    }

    /// - Returns: `nil` if there is no such section, or an error was reported.
    static func read(_ element: Section, _ settings: Settings) -> RequestURL? {
        guard element.mentions(description.name) else { return nil }
        if settings.dpop == nil {
            element.refuse(
                description.name, "request_url is for DPoP proofs, which are not checked; add dpop: {}, or remove it")
        }
        let section = element.section(description.name)
        defer { section.finish() }
        let (origin, method, path) = (origin.read(section), part(method, section), part(path, section))
        if origin == nil { section.refuseMissing("origin", "request_url needs origin, method and path") }
        guard let origin, let method, let path else { return nil }
        return RequestURL(origin: origin, method: method, path: path)
    }

    private static func part(_ description: SettingDescription, _ section: Section) -> RequestURL.Part? {
        let name = description.name
        guard let node = section.node(name) else {
            section.refuseMissing(name, "request_url needs origin, method and path")
            return nil
        }
        guard node.mapping == nil else {
            let nested = section.section(name)
            defer { nested.finish() }
            guard let field = header.read(nested) else {
                nested.refuseMissing(header.name, "\(name) needs header, the name of a header that the gateway sets")
                return nil
            }
            return .header(field)
        }
        guard section.scalarText(name) == request else {
            section.refuse(name, "\(name) must be \(description.expected)")
            return nil
        }
        return .request
    }

    private static func normalized(_ text: String) -> String? {
        guard let target = TargetURI(text), target.text.hasSuffix("/"), !text.contains("?"), !text.contains("#") else {
            return nil
        }
        let origin = String(target.text.dropLast())
        return origin.utf8.count { $0 == UInt8(ascii: "/") } == 2 ? origin : nil
    }
}

/// Reads a policy's `client_certificate`.
enum CertificateFieldReader {
    private static let header = Setting(
        "header", ValueType.fieldName, isRequired: true,
        "The header in which the gateway passes on the certificate. The gateway must delete the client's own.")
    private static let form = Setting(
        "form", ValueType<CertificateForm>.word, isRequired: true,
        "How it is written: `pem` (percent-encoded is decoded), `rfc9440` (base64 of DER between colons), or `xfcc` (Envoy's `X-Forwarded-Client-Cert`, with one element that has `Hash` or `Cert`)."
    )

    static let description = SettingDescription(
        section: "client_certificate", [header.description, form.description],
        "The header with the certificate of the client's TLS connection, to which [access tokens can be bound](gateways.md#tokens-bound-to-a-key)."
    )

    /// - Returns: `nil` if there is no such section, or an error was reported.
    static func read(_ element: Section) -> CertificateField? {
        guard element.mentions(description.name) else { return nil }
        let section = element.section(description.name)
        defer { section.finish() }
        let (header, form) = (header.read(section), form.read(section))
        for name in ["header", "form"] { section.refuseMissingUnlessSet(name) }
        guard let header, let form else { return nil }
        return CertificateField(header: header, form: form)
    }
}

extension Section {
    fileprivate func refuseMissingUnlessSet(_ name: String) {
        if source(name) == nil { refuseMissing(name, "client_certificate needs header and form") }
    }
}
