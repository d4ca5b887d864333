private import Bytes

/// Caches the headers of verified tokens by their base64url text, because all tokens of a key have the same header.
///
/// Confined to one thread. Only headers of verified tokens are inserted, so that forged ones can't evict them.
package final class JOSEHeaderCache {
    private var known: [Entry] = []

    private struct Entry {
        let text: [UInt8]
        let header: JOSEHeader

        func isText(_ other: Span<UInt8>) -> Bool { text.span.isExactly(other) }
    }

    private static let capacity = 16

    package init() {}

    package subscript(text: Span<UInt8>) -> JOSEHeader? {
        for index in known.indices where known[index].isText(text) { return known[index].header }
        return nil
    }

    package func insert(_ jws: CompactJWS) {
        guard jws.isHeaderCacheable else { return }
        if known.count == Self.capacity { known.removeFirst() }
        known.append(Entry(text: Array(jws.headerText), header: jws.header))
    }
}
