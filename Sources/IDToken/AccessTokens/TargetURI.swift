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
        let url = url.utf8.span
        let end = url.indices.first { url[$0] == UInt8(ascii: "?") || url[$0] == UInt8(ascii: "#") } ?? url.count
        guard let scheme = Scheme.allCases.first(where: { $0.begins(url.extracting(..<end)) }) else { return nil }
        let start = scheme.prefix.count
        let pathStart = min(url.firstIndex(of: slash, from: start) ?? end, end)
        guard let (host, port) = Self.hostAndPort(url.extracting(start..<pathStart)),
            scheme == .https || Self.isLoopback(host)
        else { return nil }
        // Written in one go: strings of each part took four times as long.
        var normal: [UInt8] = []
        normal.reserveCapacity(end + 1)
        normal += scheme.prefix
        normal += host
        if let port, port != scheme.usualPort { normal += Array(":\(port)".utf8) }
        guard Self.append(path: url.extracting(pathStart..<end), to: &normal) else { return nil }
        text = String(decoding: normal, as: UTF8.self)
    }

    private enum Scheme: CaseIterable {
        case https, http

        var prefix: [UInt8] { self == .https ? Self.httpsPrefix : Self.httpPrefix }
        var usualPort: Int { self == .https ? 443 : 80 }

        func begins(_ url: Span<UInt8>) -> Bool {
            url.count >= prefix.count && url.extracting(..<prefix.count).isEqualIgnoringCase(to: prefix.span)
        }

        private static let httpsPrefix = Array("https://".utf8)
        private static let httpPrefix = Array("http://".utf8)
    }

    /// The host in lower case, and the port if there is one.
    private static func hostAndPort(_ authority: Span<UInt8>) -> (host: [UInt8], port: Int?)? {
        let isAddress = authority.count > 0 && authority[0] == UInt8(ascii: "[")
        let hostEnd =
            isAddress
            ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
            : authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.count
        guard let hostEnd, hostEnd > (isAddress ? 2 : 0) else { return nil }
        for index in isAddress ? 1..<(hostEnd - 1) : 0..<hostEnd {
            let octet = authority[index]
            guard isAddress ? octet.isOfAddress : octet.isUnreserved else { return nil }
        }
        let host = (0..<hostEnd).map { authority[$0].asciiLowercased }
        guard hostEnd < authority.count else { return (host, nil) }
        guard authority[hostEnd] == UInt8(ascii: ":") else { return nil }
        let digits = authority.extracting((hostEnd + 1)...)
        guard digits.count > 0 else { return (host, nil) }
        guard digits.count <= 5, digits.indices.allSatisfy({ digits[$0].isDigit }) else { return nil }
        let port = digits.indices.reduce(0) { $0 * 10 + Int(digits[$1] & 15) }
        return (1...65_535).contains(port) ? (host, port) : nil
    }

    private static func isLoopback(_ host: [UInt8]) -> Bool {
        let host = String(decoding: host, as: UTF8.self)
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "[::1]"
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Appends the path without dot segments, and with one spelling of each octet.
    ///
    /// - Parameter path: empty, or with a slash at its beginning.
    /// - Returns: whether it is a path.
    private static func append(path: Span<UInt8>, to normal: inout [UInt8]) -> Bool {
        normal.append(slash)
        let first = normal.count
        var segment = first
        var index = 1
        while index < path.count {
            let octet = path[index]
            index += 1
            switch octet {
            case slash:
                if !removeDots(in: &normal, from: segment, after: first) { normal.append(slash) }
                segment = normal.count
            case UInt8(ascii: "%"):
                guard index + 1 < path.count, let high = path[index].hexadecimalValue,
                    let low = path[index + 1].hexadecimalValue
                else { return false }
                index += 2
                let decoded = high << 4 | low
                if decoded.isUnreserved {
                    normal.append(decoded)
                } else {
                    normal += [octet, digit(high), digit(low)]
                }
            default:
                guard octet.isOfPath else { return false }
                normal.append(octet)
            }
        }
        _ = removeDots(in: &normal, from: segment, after: first)
        return true
    }

    /// Removes the last segment if it is `.` or `..`, and in the latter case the one before it.
    ///
    /// - Parameters:
    ///   - segment: where it begins.
    ///   - first: where the first segment begins.
    /// - Returns: whether it was one of them; then what is left ends with a slash.
    private static func removeDots(in normal: inout [UInt8], from segment: Int, after first: Int) -> Bool {
        let length = normal.count - segment
        guard length == 1 || length == 2, normal[segment...].allSatisfy({ $0 == UInt8(ascii: ".") }) else {
            return false
        }
        normal.removeLast(length)
        guard length == 2, segment > first else { return true }
        repeat { normal.removeLast() } while normal.last != slash
        return true
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}

private let slash = UInt8(ascii: "/")

extension UInt8 {
    /// `pchar` without percent-encoding (RFC 3986, section 3.3).
    fileprivate var isOfPath: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ":"),
            UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "@"):
            true
        default: isUnreserved
        }
    }

    /// The characters of an IPv6 address.
    fileprivate var isOfAddress: Bool {
        hexadecimalValue != nil || self == UInt8(ascii: ":") || self == UInt8(ascii: ".")
    }
}
