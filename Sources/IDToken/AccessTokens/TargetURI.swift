private import Bytes

/// The URL of a request as `htu` names it: without query and fragment, and normalized, so that equal URLs are equal
/// texts.
///
/// - Source: RFC 9449, section 4.3, item 9; RFC 3986, sections 6.2.2 and 6.2.3.
package struct TargetURI: Sendable, Equatable {
    package let text: String

    /// - Returns: `nil` for anything but an `https` URL with a host, or an `http` URL of this machine; also with a user
    ///   name.
    package init?(_ url: String) {
        let octets = Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        guard let colon = octets.firstIndex(of: UInt8(ascii: ":")), octets[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let scheme = String(decoding: octets[..<colon], as: UTF8.self).lowercased()
        let rest = octets[(colon + 3)...]
        let end = rest.firstIndex(of: Self.slash) ?? rest.endIndex
        guard scheme == "https" || scheme == "http", let (host, port) = Self.hostAndPort(rest[..<end]),
            scheme == "https" || Self.isLoopback(host), let path = Self.path(rest[end...])
        else { return nil }
        let isUsual = port == nil || port == (scheme == "https" ? 443 : 80)
        text = "\(scheme)://\(host)\(isUsual ? "" : ":\(port ?? 0)")\(path)"
    }

    private static let slash = UInt8(ascii: "/")

    /// The host in lower case, and the port if there is one.
    private static func hostAndPort(_ authority: ArraySlice<UInt8>) -> (host: String, port: Int?)? {
        let isAddress = authority.first == UInt8(ascii: "[")
        let hostEnd =
            isAddress
            ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
            : authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        guard let hostEnd else { return nil }
        let host = authority[..<hostEnd]
        let isHost =
            isAddress
            ? host.count > 2
                && host.dropFirst().dropLast().allSatisfy { $0.hexadecimalValue != nil || ":.".utf8.contains($0) }
            : !host.isEmpty && host.allSatisfy { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
        guard isHost else { return nil }
        let name = String(decoding: host, as: UTF8.self).lowercased()
        let rest = authority[hostEnd...]
        guard rest.count > 1 else { return rest.isEmpty || rest.first == UInt8(ascii: ":") ? (name, nil) : nil }
        let digits = rest.dropFirst()
        guard rest.first == UInt8(ascii: ":"), digits.count <= 5, digits.allSatisfy(\.isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
        else { return nil }
        return (name, port)
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "[::1]"
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The path without dot segments, and with one spelling of each octet.
    private static func path(_ written: ArraySlice<UInt8>) -> String? {
        var octets: [UInt8] = []
        var rest = written
        while let octet = rest.popFirst() {
            if octet == UInt8(ascii: "%") {
                guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                    return nil
                }
                octets += percentEncoded(high << 4 | low)
            } else if octet == slash || isUnreserved(octet) || "!$&'()*+,;=:@".utf8.contains(octet) {
                octets.append(octet)
            } else {
                return nil
            }
        }
        let segments = octets.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent { _ = kept.popLast() }
            // A dot segment at the end leaves its slash.
            if index == segments.count - 1 { kept.append([]) }
        }
        return "/" + String(decoding: Array(kept.joined(separator: [slash])), as: UTF8.self)
    }

    private static func percentEncoded(_ octet: UInt8) -> [UInt8] {
        if isUnreserved(octet) { return [octet] }
        return Array(("%" + String(hexadecimal: [octet].span).uppercased()).utf8)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        octet.isLetterOrDigit || "-._~".utf8.contains(octet)
    }
}
