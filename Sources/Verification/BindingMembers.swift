internal import IDToken
internal import JOSE

/// The members of a request with an access token that prove the key that the token is bound to.
extension BindingEvidence {
    static let names: [JSONName] = [Names.certificate]

    /// `null` and an empty string mean that none came, because backends pass on what their server has.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(of object: JSONObject) throws(Problem) {
        self.init()
        guard let text = try object.string(Names.certificate, characters: 0...32_768), !text.isEmpty else { return }
        certificate = CertificateThumbprint(text)
        guard certificate != nil else {
            throw .requestInvalid(
                "certificate must be one certificate, the client's: in PEM, which may be percent-encoded, or as base64 of its DER; or its SHA-256 in 43 characters of base64url."
            )
        }
    }

    private enum Names {
        static let certificate: JSONName = "certificate"
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
