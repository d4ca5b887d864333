package import JOSE

package func base64URL(_ octets: some Collection<UInt8>) -> String { text(Base64URL.encode(Array(octets))) }

package func base64URL(_ text: String) -> String { base64URL(Array(text.utf8)) }

/// The JSON text of a value.
package func json(_ tree: JSONTree) -> String {
    var writer = JSONWriter()
    writer.value(tree)
    return text(writer.bytes)
}

/// The JSON text of a JWK Set.
package func jwkSet(_ keys: [JSONTree]) -> [UInt8] { Array(json(.object(["keys": .array(keys)])).utf8) }

/// A compact JWS with exactly this header and payload, signed with a key.
///
/// - Parameter algorithm: the algorithm to sign with, whatever the header says; `nil`: the key's own.
package func compactJWS(
    header: String, payload: String, signedBy key: TestKey, as algorithm: String? = nil
) -> String {
    text(try! key.signer(as: algorithm).compactJWS(header: Array(header.utf8), payload: Array(payload.utf8)))
}

/// The same in the form of AWS's load balancers: each part is padded, and the padding is signed.
package func paddedJWS(header: String, payload: String, signedBy key: TestKey) -> String {
    let input = padded(base64URL(header)) + "." + padded(base64URL(payload))
    return input + "." + padded(base64URL(key.sign(Array(input.utf8))))
}

/// Base64url with the padding that its length needs.
package func padded(_ text: String) -> String {
    text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
}

/// A compact JWS with `alg` and `kid` in its header, signed with a key.
package func compactJWS(payload: String, signedBy key: TestKey) -> String {
    compactJWS(header: #"{"alg":"\#(key.algorithm)","kid":"\#(key.keyID)"}"#, payload: payload, signedBy: key)
}

/// A Claims Set with values in JSON text, so that tests control every byte.
package struct ClaimsText: Sendable {
    private var members: [(name: String, json: String)]

    package init(_ members: KeyValuePairs<String, String>) { self.members = members.map { ($0, $1) } }

    /// A copy with one claim replaced or added.
    package func with(_ name: String, _ json: String) -> ClaimsText {
        var copy = self
        if let index = members.firstIndex(where: { $0.name == name }) {
            copy.members[index].json = json
        } else {
            copy.members.append((name, json))
        }
        return copy
    }

    package func without(_ name: String) -> ClaimsText {
        var copy = self
        copy.members.removeAll { $0.name == name }
        return copy
    }

    package var json: String { "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}" }
}
