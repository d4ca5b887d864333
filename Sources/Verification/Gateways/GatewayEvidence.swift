private import Bytes
package import IDToken

/// How a gateway names the client's request, so that a DPoP proof can be compared with it.
package struct RequestURL: Sendable, Equatable {
    /// Such as `https://api.example.com`. A setting: `Host` is whatever the client sends.
    package let origin: String
    package let method: Part
    package let path: Part

    package enum Part: Sendable, Equatable {
        /// A header field that the gateway sets.
        case header(String)
        /// The gateway's own request has it: the method, and the path below that of the policy.
        case request
    }

    package init(origin: String, method: Part, path: Part) {
        self.origin = origin
        self.method = method
        self.path = path
    }
}

/// The header field in which a gateway passes on the certificate of the client's TLS connection.
package struct CertificateField: Sendable, Equatable {
    package let header: String
    package let form: CertificateForm

    package init(header: String, form: CertificateForm) {
        self.header = header
        self.form = form
    }

    /// - Returns: `nil` if the client has no certificate.
    /// - Throws: ``Denial/certificateUnreadable``.
    func certificate(in fields: some RequestFields) throws(Denial) -> CertificateThumbprint? {
        let values = fields.values(named: header)
        guard values.count <= 1 else { throw .certificateUnreadable }
        guard let value = values.first, !value.isEmpty else { return nil }
        guard let certificate = CertificateThumbprint(String(decoding: value, as: UTF8.self), in: form) else {
            throw .certificateUnreadable
        }
        return certificate
    }
}

/// A request from a gateway, apart from its header fields.
package struct GatewayRequestLine {
    /// The method of the gateway's own request.
    let method: String
    /// Its path below that of the policy, with the query or without it.
    let path: ArraySlice<UInt8>

    /// - Parameter pathBelowPolicy: begins with a slash, unless it is empty.
    package init(method: String, pathBelowPolicy: ArraySlice<UInt8>) {
        self.method = method
        // Envoy appends the client's path, which has a slash of its own, to a prefix that ends with one.
        path = pathBelowPolicy.starts(with: [Self.slash, Self.slash]) ? pathBelowPolicy.dropFirst() : pathBelowPolicy
    }

    fileprivate static let slash = UInt8(ascii: "/")
}

/// The request that a gateway asks about: the client's.
package struct AskedRequest {
    let method: String
    /// `nil` for a URL that no proof can name, because the client chose its path.
    let target: TargetURI?
}

extension ForwardAuthPolicy {
    /// What the request has, besides its token, to prove that the client has the token's key.
    ///
    /// - Parameters:
    ///   - request: the client's; `nil` if the policy takes no proofs.
    ///   - proofs: what proofs are checked with; `nil` if none are taken.
    /// - Throws: ``Denial/proofRejected(code:)``, ``Denial/certificateUnreadable``.
    package func evidence(
        in fields: some RequestFields, of request: AskedRequest?, beside token: SentToken, _ proofs: ProofChecks?
    ) throws(Denial) -> BindingEvidence {
        var evidence = BindingEvidence()
        if let request, let proofs {
            let values = fields.values(named: "DPoP")
            guard values.count <= 1 else { throw .proofRejected(code: Rejection.Code.proofInvalid.rawValue) }
            evidence.claimsBinding = token.isUnderProofScheme
            if let proof = values.first, !proof.isEmpty {
                evidence.proof = PresentedProof(
                    proof, method: request.method, target: request.target,
                    scheme: token.isUnderProofScheme ? Self.proofScheme : "",
                    by: proofs, for: proofUse)
            }
        }
        evidence.certificate = try clientCertificate?.certificate(in: fields)
        return evidence
    }
}

extension RequestURL {
    /// The client's request. A gateway that does not name it is configured wrongly, whatever the client sent.
    ///
    /// - Throws: ``Denial/requestUnknown``.
    package func request(
        in fields: some RequestFields, _ line: GatewayRequestLine
    ) throws(Denial) -> AskedRequest {
        let method =
            switch method {
            case .header(let name): String(decoding: try Self.only(name, in: fields), as: UTF8.self)
            case .request: line.method
            }
        let path =
            switch path {
            case .header(let name): try Self.only(name, in: fields)
            case .request: line.path
            }
        guard !method.isEmpty, let first = path.first else { throw .requestUnknown }
        // Anything else would continue the origin's host name.
        guard first == GatewayRequestLine.slash else { return AskedRequest(method: method, target: nil) }
        return AskedRequest(method: method, target: TargetURI(origin + String(decoding: path, as: UTF8.self)))
    }

    private static func only(_ name: String, in fields: some RequestFields) throws(Denial) -> ArraySlice<UInt8> {
        let values = fields.values(named: name)
        guard values.count == 1 else { throw .requestUnknown }
        return values[0]
    }
}
