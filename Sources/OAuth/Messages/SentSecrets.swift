private import Bytes
internal import OpenSSL

/// The secrets that a request contained: codes, tokens, and what authenticates the client.
package struct SentSecrets: Sendable {
    private let secrets: [SecretBytes]

    init(_ secrets: [SecretBytes]) { self.secrets = secrets }

    /// - Throws: ``OpenSSLError`` when out of memory.
    func adding(_ text: String) throws(OpenSSLError) -> SentSecrets {
        SentSecrets(secrets + [try SecretBytes(text.utf8.span)])
    }

    /// The number of consecutive characters of a secret by which it is recognized: a provider may repeat only a part.
    private static let windowLength = 8
    /// Longer texts are cut before they are searched.
    private static let maximumSearched = 512

    /// A provider's text without the words that contain a secret, or a part of one.
    ///
    /// - Parameter maximumLength: in characters; longer texts are cut.
    /// - Returns: printable ASCII; `nil` if nothing is left.
    func removed(from text: String, maximumLength: Int) -> String? {
        var octets: [UInt8] = []
        for octet in text.utf8.prefix(Self.maximumSearched) {
            // A line break, or a run of characters that are not shown, becomes one space.
            let shown = octet.isPrintableASCII ? octet : UInt8(ascii: " ")
            if shown != UInt8(ascii: " ") || octets.last.map({ $0 != shown }) ?? false { octets.append(shown) }
        }
        if octets.last == UInt8(ascii: " ") { octets.removeLast() }
        guard !octets.isEmpty else { return nil }
        var isSecret = [Bool](repeating: false, count: octets.count)
        for secret in secrets { secret.withBytes { Self.mark($0, in: octets, &isSecret) } }
        var start = 0
        let words = octets.split(separator: UInt8(ascii: " ")).map { word in
            defer { start += word.count + 1 }
            return isSecret[start..<start + word.count].contains(true)
                ? "[removed]" : String(decoding: word, as: UTF8.self)
        }
        let shown = words.joined(separator: " ")
        return shown.utf8.count <= maximumLength ? shown : shown.prefix(maximumLength - 3) + "..."
    }

    /// Marks the places of a text where a part of the secret is, in whichever case. Copies nothing of the secret.
    private static func mark(_ secret: borrowing Span<UInt8>, in text: [UInt8], _ isSecret: inout [Bool]) {
        let length = min(windowLength, secret.count)
        guard length > 0, length <= text.count else { return }
        for place in 0...text.count - length {
            for start in 0...secret.count - length {
                var count = 0
                while count < length, secret[start + count].asciiLowercased == text[place + count].asciiLowercased {
                    count += 1
                }
                guard count == length else { continue }
                for index in place..<place + length { isSecret[index] = true }
                break
            }
        }
    }
}
