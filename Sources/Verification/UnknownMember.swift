private import Bytes
package import JSON

extension JSONObject {
    /// Rejects objects with members other than `names`.
    ///
    /// - Parameter description: the object's name in error messages.
    /// - Throws: ``Problem/requestInvalid(_:)``, which names the first unknown member.
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

    /// A member's name in a form that is safe to show in `detail`.
    ///
    /// The name comes from the caller. A caller that confuses names and values may send a token, a nonce or an address
    /// as a name. Names that don't look like names are replaced by their length: empty ones, those longer than 32
    /// characters, those with characters other than letters, digits and some punctuation, and those longer than 16
    /// characters that contain digits or as many capital letters as random text.
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
