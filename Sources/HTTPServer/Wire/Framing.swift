private import Bytes

/// How long the body is and whether the connection persists, as declared by the head.
///
/// - There must be exactly one valid `Host`; HTTP/1.0 may omit it (RFC 9112, section 3.2).
/// - The body's length is given at most once: by one `Content-Length`, or by the transfer coding `chunked`, which
///   HTTP/1.0 does not have (sections 6.1 to 6.3).
/// - There should be one `Content-Type` and one `Authorization` at most; see ``repeatedField``.
/// - `Upgrade` is ignored, as a server may (RFC 9110, section 7.8).
struct Framing: Sendable {
    enum Body: Sendable, Equatable {
        /// The length in bytes, at most `Int.max`; 0 if the head announces no body.
        case length(Int)
        case chunked
    }

    private(set) var body = Body.length(0)
    /// Whether `Connection` has the option `close`.
    private(set) var closes = false
    /// Whether the client waits for `100 Continue` before it sends the body.
    private(set) var expectsContinue = false
    /// `Content-Type` or `Authorization` if it occurs twice. Neither is a list, so a second one is an error (RFC 9110,
    /// section 5.3), and a proxy may use the other one.
    private(set) var repeatedField: StaticString?

    /// - Parameter head: the complete head that contains these field lines.
    /// - Throws: ``HTTPFault/malformed`` for a head that parsers could interpret differently.
    init(_ lines: [FieldLine], isHTTP10: Bool, _ head: [UInt8]) throws(HTTPFault) {
        var hosts = 0, lengths = 0, codings = 0
        // Counting names by length costs almost nothing; names are compared only if two have the same length.
        var namesOf12 = 0, namesOf13 = 0
        let bytes = head.span
        for line in lines {
            let nameLength = line.name.indices.count
            if nameLength == 12 { namesOf12 += 1 } else if nameLength == 13 { namesOf13 += 1 }
            let value = bytes.extracting(line.value.indices)
            switch FramingField(bytes.extracting(line.name.indices)) {
            case .host:
                hosts += 1
                guard value.isHost else { throw .malformed }
            case .contentLength:
                lengths += 1
                body = .length(try value.decimal())
            case .transferEncoding:
                codings += 1
                guard value.equals("chunked", ignoringCase: true) else { throw .malformed }
                body = .chunked
            case .connection: closes = closes || HeadSlice(line.value, of: head).lists("close")
            case .expect:
                expectsContinue =
                    expectsContinue || (!isHTTP10 && HeadSlice(line.value, of: head).lists("100-continue"))
            case nil: break
            }
        }
        guard hosts == 1 || (isHTTP10 && hosts == 0), lengths + codings <= 1, !isHTTP10 || codings == 0 else {
            throw .malformed
        }
        if namesOf12 > 1, Self.isRepeated("Content-Type", lines, bytes) { repeatedField = "Content-Type" }
        if namesOf13 > 1, Self.isRepeated("Authorization", lines, bytes) { repeatedField = "Authorization" }
    }

    private static func isRepeated(
        _ name: StaticString, _ lines: [FieldLine], _ head: borrowing Span<UInt8>
    ) -> Bool {
        var count = 0
        for line in lines where head.extracting(line.name.indices).equals(name, ignoringCase: true) { count += 1 }
        return count > 1
    }
}

/// A field that determines where a request ends, or what happens to its connection.
enum FramingField {
    case host, contentLength, transferEncoding, connection, expect

    init?(_ name: Span<UInt8>) {
        // The length distinguishes most names, and costs one comparison.
        switch name.count {
        case 4 where name.equals("Host", ignoringCase: true): self = .host
        case 6 where name.equals("Expect", ignoringCase: true): self = .expect
        case 10 where name.equals("Connection", ignoringCase: true): self = .connection
        case 14 where name.equals("Content-Length", ignoringCase: true): self = .contentLength
        case 17 where name.equals("Transfer-Encoding", ignoringCase: true): self = .transferEncoding
        default: return nil
        }
    }
}

extension Span<UInt8> {
    /// Whether all bytes may occur in a host with an optional port; true if there are none.
    var isHost: Bool {
        for index in indices where !self[index].isHostCharacter { return false }
        return true
    }

    /// An unsigned decimal number below 2⁶⁴; above `Int.max`, it becomes `Int.max`.
    ///
    /// - Throws: ``HTTPFault/malformed``.
    fileprivate func decimal() throws(HTTPFault) -> Int {
        guard !isEmpty else { throw .malformed }
        var number: UInt64 = 0
        for index in indices {
            guard self[index].isDigit else { throw .malformed }
            let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(self[index] & 15))
            guard !overflow, !carry else { throw .malformed }
            number = sum
        }
        return Int(clamping: number)
    }
}
