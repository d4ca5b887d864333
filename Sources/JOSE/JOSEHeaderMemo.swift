private import JSON

/// The headers of tokens that verified, by their base64url text: a key's tokens all carry the same bytes.
///
/// Confined to one thread. Only verified tokens' headers get in, so that junk can't push the good ones out.
package final class JOSEHeaderMemo {
    private var known: [(text: [UInt8], header: JOSEHeader)] = []
    private static let capacity = 16

    package init() {}

    package subscript(text: ArraySlice<UInt8>) -> JOSEHeader? {
        let text = text.span
        for entry in known where text.isExactly(entry.text.span) { return entry.header }
        return nil
    }

    package func remember(_ jws: CompactJWS) {
        guard self[jws.headerText] == nil else { return }
        if known.count == Self.capacity { known.removeFirst() }
        known.append((Array(jws.headerText), jws.header))
    }
}
