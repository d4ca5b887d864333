internal import JSON

extension JWKSet {
    /// A key of a JWK Set as published, for operators: what it can verify, or why it can't verify anything.
    package struct Entry: Sendable {
        package let keyID: String?
        /// The algorithms of the tokens that it can verify.
        package let algorithms: SignatureAlgorithms
        /// The reason why it can't verify anything; `nil` if it can.
        package let flaw: String?

        fileprivate init(_ value: JSONTree) {
            guard let members = value.object else {
                self.init(keyID: nil, flaw: "it is not a JSON object")
                return
            }
            let keyID = members["kid"]?.string
            guard !DevelopmentKeys.contain(keyID) else {
                self.init(keyID: keyID, flaw: Self.reasonOfDevelopment)
                return
            }
            guard let key = JWK(members) else {
                self.init(keyID: keyID, flaw: Self.reasonIgnored(members))
                return
            }
            guard case .usable = key.material else {
                self.init(keyID: keyID, flaw: Self.reasonUnsuitable(key))
                return
            }
            self.init(
                keyID: keyID, algorithms: key.algorithms,
                flaw: key.algorithms.isEmpty ? Self.reasonWithoutAlgorithm(members) : nil)
        }

        fileprivate init(keyID: String?, algorithms: SignatureAlgorithms = [], flaw: String?) {
            self.keyID = keyID
            self.algorithms = algorithms
            self.flaw = flaw
        }

        private static let reasonOfDevelopment = "it is a key of assay dev, with which anyone can sign"

        private static func reasonIgnored(_ members: [String: JSONTree]) -> String {
            guard members["d"] == nil else { return "it is a private key: anyone who has read it can sign tokens" }
            guard members["k"] == nil else { return "it is a symmetric key: anyone who has read it can sign tokens" }
            switch members["kty"]?.string {
            case "RSA": return lacks(["n", "e"], members) ?? "it is too large"
            case "EC": return lacks(["crv", "x", "y"], members) ?? "its curve (crv) is not supported"
            case "OKP": return lacks(["crv", "x"], members) ?? "its curve (crv) is not supported"
            default: return "its type (kty) is not RSA, EC or OKP"
            }
        }

        private static func reasonUnsuitable(_ key: JWK) -> String {
            let numbers = ["n", "e", "x", "y"].filter { key.members[$0] != nil }
            let unreadable = numbers.filter { key.members[$0]?.string.flatMap(Base64URL.decodeLeniently) == nil }
            guard unreadable.isEmpty else {
                let names = unreadable.joined(separator: ", ")
                return "its \(names) \(unreadable.count == 1 ? "is" : "are") not base64url"
            }
            guard key.keyType == "RSA" else {
                return "it is not a point on \(key.curve ?? "its curve"), or it is an unsafe point"
            }
            return key.isTooSmall
                ? "it is too small (\(key.typeText)): the minimum is 2048 bits" : "its n or e is not valid for RSA"
        }

        private static func lacks(_ names: [String], _ members: [String: JSONTree]) -> String? {
            let missing = names.filter { members[$0] == nil }
            return missing.isEmpty ? nil : "it has no \(missing.joined(separator: ", "))"
        }

        private static func reasonWithoutAlgorithm(_ members: [String: JSONTree]) -> String {
            if let use = members["use"], use.string != "sig" { return "its use is not sig" }
            if let operations = members["key_ops"], operations.array?.contains(.string("verify")) != true {
                return "its key_ops do not include verify"
            }
            return "its alg is not supported, or contradicts its type"
        }
    }

    /// The entries of a JSON object with certificates (``init(certificates:)``), including unreadable ones; empty if
    /// the text is not a JSON object.
    package static func entries(ofCertificates json: [UInt8]) -> [Entry] {
        let certificates = (try? JSONTree(readingObject: json))?.object ?? [:]
        return certificates.sorted { $0.key < $1.key }.map { keyID, value in
            guard let key = value.string.flatMap({ JWK(keyID: keyID, certificate: $0) }) else {
                return Entry(keyID: keyID, flaw: "it is not a PEM certificate of an RSA or EC key")
            }
            return Entry(.object(key.members))
        }
    }

    /// The entries of a JWK Set, including keys that ``init(_:)`` skips; empty if the text is not a JWK Set.
    package static func entries(of json: [UInt8]) -> [Entry] {
        guard let keys = (try? JSONTree(readingObject: json))?.object?["keys"]?.array else { return [] }
        return keys.map(Entry.init)
    }
}
