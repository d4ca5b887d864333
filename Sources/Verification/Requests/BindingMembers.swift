private import Bytes
internal import IDToken
internal import JOSE

/// The members of a request with an access token that prove the key that the token is bound to.
extension BindingEvidence {
    static let names: [JSONName] = [Names.dpop, Names.certificate]

    /// `null` and an empty string mean that none came, because backends pass on what their server has.
    ///
    /// - Parameter proofs: what proofs are checked with; `nil` if they are not checked.
    init(of object: JSONObject, _ proofs: ProofChecks?) throws(Problem) {
        self.init(proof: try PresentedProof(of: object[Names.dpop], proofs))
        guard let text = try object.string(Names.certificate, characters: 0...32_768), !text.isEmpty else { return }
        certificate = CertificateThumbprint(text)
        guard certificate != nil else {
            throw .requestInvalid(
                "certificate must be one certificate, the client's: in PEM, which may be percent-encoded, or as base64 of its DER; or its SHA-256 in 43 characters of base64url."
            )
        }
    }

    private enum Names {
        static let dpop: JSONName = "dpop"
        static let certificate: JSONName = "certificate"
    }
}

extension PresentedProof {
    /// Reads `dpop`.
    ///
    /// - Returns: `nil` if none came.
    fileprivate init?(of value: JSONValue?, _ proofs: ProofChecks?) throws(Problem) {
        guard let value, value.kind != .null, value.utf8?.isEmpty != true else { return nil }
        guard let proofs else {
            throw .requestInvalid(
                "dpop is only valid with the setting dpop, without which no proof is checked; add dpop: {} to the settings, or omit the member."
            )
        }
        guard let members = value.object else { throw Self.wrongShape }
        try members.requireOnly([Names.proof, Names.method, Names.url, Names.scheme], in: "object dpop")
        func text(_ name: JSONName, upTo length: Int) throws(Problem) -> String {
            guard let text = try? members.string(name), text.hasScalars(1...length) else { throw Self.wrongShape }
            return text
        }
        guard let proof = try? members.utf8(Names.proof) else { throw Self.wrongShape }
        let method = try text(Names.method, upTo: 64)
        guard let target = TargetURI(try text(Names.url, upTo: 16_384)) else {
            throw .requestInvalid(
                "dpop.url must be the whole URL that the client called: https, or http for a loopback host, without a user name."
            )
        }
        self.init(
            proof, method: method, target: target, scheme: try text(Names.scheme, upTo: 64), by: proofs)
    }

    private static let wrongShape = Problem.requestInvalid(
        "dpop must be an object {\"proof\", \"method\", \"url\", \"scheme\"} of four strings: the value of the header DPoP, the request's method and URL, and the scheme of its Authorization; none but proof may be empty."
    )

    private enum Names {
        static let proof: JSONName = "proof"
        static let method: JSONName = "method"
        static let url: JSONName = "url"
        static let scheme: JSONName = "scheme"
    }
}

extension TokenBinding {
    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("method", method.rawValue)
            json.member("thumbprint", thumbprint)
        }
    }
}
