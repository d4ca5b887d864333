private import Bytes
package import JSON

extension JSONObject {
    /// Refuses members whose names are not among `names`.
    ///
    /// - Parameter description: of the object in the request, as people write it.
    /// - Throws: ``Problem/requestInvalid(_:)``, which names the first one.
    package func requireOnly(_ names: [JSONName], in description: StaticString) throws(Problem) {
        if hasOnly(names) { return }
        throw unknownMember(names, description)
    }

    private func unknownMember(_ names: [JSONName], _ description: StaticString) -> Problem {
        let name = Self.redactedName(firstName(notAmong: names) ?? [])
        let known = names.map(\.string)
        return .requestInvalid(
            "The \(description) has an unknown member \(name); known members: \(known.joined(separator: ", ")).")
    }

    /// A member's name as `detail` may show it.
    ///
    /// The name is the caller's own text, and a caller that mixes up names and values may have put a token, a nonce or an
    /// address there. What does not read like a name is described by its length: anything that is longer than 32 characters,
    /// has other characters than letters, digits and a little punctuation, or, beyond 16 characters, has digits or as many
    /// capital letters as random text.
    static func redactedName(_ name: [UInt8]) -> String {
        let digits = name.count(where: \.isDigit)
        let capitals = name.count { (0x41...0x5a).contains($0) }
        let readsLikeName =
            (1...32).contains(name.count) && digits <= 4 && (name.count <= 16 || digits == 0 && capitals <= 4)
            && name.allSatisfy { $0.isLetterOrDigit || "_- ".utf8.contains($0) }
        guard readsLikeName else { return "with a name of \(name.count) bytes that is not shown" }
        return "\"\(String(decoding: name, as: UTF8.self))\""
    }
}
