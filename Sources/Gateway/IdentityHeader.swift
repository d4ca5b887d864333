private import Bytes

/// A header field that tells the backend something about a verified token.
package struct IdentityHeader: Sendable, Equatable {
    /// Spelled as in the settings.
    package let name: String
    package let value: IdentityValue

    package init(_ name: String, _ value: IdentityValue) {
        self.name = name
        self.value = value
    }

    package static let usual = [
        IdentityHeader("X-Auth-Subject", .subject), IdentityHeader("X-Auth-Issuer", .issuer),
        IdentityHeader("X-Auth-Email", .email), IdentityHeader("X-Auth-Email-Trust", .emailTrust),
        IdentityHeader("X-Auth-Scopes", .scopes),
    ]

    /// Why a header field must not have this name; `nil` if it may.
    ///
    /// Fields that frame, route or authenticate a request, or that gateways use, are refused, because they change how
    /// the request is handled. Underscores are refused, because many servers treat them like hyphens, and gateways drop
    /// such fields.
    package static func refusal(ofName name: String) -> String? {
        let lowercase = name.lowercased()
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            return "a header's name must consist of letters, digits and hyphens"
        }
        guard !reservedNames.contains(lowercase), !reservedPrefixes.contains(where: lowercase.hasPrefix) else {
            return "\(name) is reserved for HTTP or for gateways; choose another name, such as X-Auth-Subject"
        }
        return nil
    }

    private static let reservedNames: Set<String> = [
        "age", "allow", "alt-svc", "authorization", "cache-control", "clear-site-data", "connection", "cookie", "date",
        "expect", "forwarded", "from", "host", "keep-alive", "location", "origin", "pragma", "priority", "proxy",
        "range", "referer", "retry-after", "server", "set-cookie", "strict-transport-security", "te", "trailer",
        "transfer-encoding", "upgrade", "vary", "via", "www-authenticate", "x-assay-key", "x-forwarded",
        "x-http-method",
        "x-http-method-override", "x-method-override", "x-real-ip", "x-request-id", "x-rewrite-url", "x-sendfile",
    ]
    private static let reservedPrefixes = [
        "accept", "access-control-", "content-", "grpc-", "http2-", "if-", "proxy-", "sec-", "trace", "x-accel-",
        "x-envoy-", "x-forwarded-", "x-original-",
    ]
}

extension IdentityHeader {
    /// Two headers with the same name, ignoring case, so that servers can't tell them apart; `nil` if there are none.
    package static func twins(in headers: [IdentityHeader]) -> (String, String)? {
        var seen: [String: String] = [:]
        for header in headers {
            if let other = seen.updateValue(header.name, forKey: header.name.lowercased()) {
                return (other, header.name)
            }
        }
        return nil
    }
}
