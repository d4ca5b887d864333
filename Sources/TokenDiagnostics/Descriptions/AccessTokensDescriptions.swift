private import Bytes
internal import IDToken
private import JOSE

/// The checks that differ between access tokens and ID Tokens.
extension CheckDescriptions {
    /// Describes a check of an access token; `nil` if the description is the same for an ID Token.
    func accessTokenCheck(
        _ name: CheckName, _ rejection: Rejection?, _ dialect: AccessTokenDialect, _ scopes: [String]
    ) -> Check? {
        switch name {
        case .header: type(rejection, dialect)
        case .signer: signer(rejection, dialect)
        case .tokenKind: isAccessToken(rejection, dialect)
        case .audience: resourceAudience(rejection)
        case .client: client(rejection, dialect)
        case .subject where dialect.serviceNameClaim != nil: userOrMachine(rejection, dialect)
        case .binding: binding(rejection, dialect)
        case .scopes: self.scopes(rejection, needed: scopes)
        default: nil
        }
    }

    private func type(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Check {
        let words = AccessTokenType.allCases.filter(dialect.types.contains).map { $0 == .none ? "none" : $0.rawValue }
        let isOnlyDeclared = dialect.types == [.accessToken]
        let isTypeGood = (try? checkAccessTokenType(token.jws.header, dialect)) != nil
        return made(
            .header, rejection, passed: "The header is that of an access token.",
            failed: isTypeGood
                ? parametersDiagnosis
                : Diagnosis(
                    isOnlyDeclared && (try? checkTokenType(token.jws.header)) != nil
                        ? "The header does not declare an access token: its typ must be at+jwt (RFC 9068)."
                        : "The header is not that of an access token.",
                    fix: """
                        Send the access_token of the provider's response. If that is it, set the matching preset for \
                        the provider \(policy.id), or list its typ in token_types.
                        """),
            expected: expectedHeader(words.joined(separator: " or ")), found: foundHeader)
    }

    private func signer(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Check {
        let header = token.jws.headerObject
        let found = header?["signer"]?.string
        let diagnosis: Diagnosis =
            switch rejection {
            case .keyNotFound:
                Diagnosis("The assertion's kid is not a UUID; a load balancer's always is.", fix: Self.forgedHeader)
            case .claimInvalid(.signer):
                Diagnosis(
                    "Another load balancer signed the assertion.",
                    fix: "If it is yours, set signer of the provider \(policy.id) to its ARN. Otherwise, refuse it.")
            case .issuerMismatch, .claimInvalid(.expiration):
                Diagnosis("The assertion's header and payload contradict each other.", fix: Self.forgedHeader)
            default:
                Diagnosis("The assertion's header lacks a member that load balancers send.", fix: Self.forgedHeader)
            }
        return .checked(
            .signer, rejection, passed: "The configured load balancer signed the assertion.", failed: diagnosis,
            expected: dialect.loadBalancer.map(Redaction.text), found: found.map(Redaction.text))
    }

    private static let forgedHeader = "Refuse it: no load balancer creates such an assertion."

    private func isAccessToken(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Check {
        let markers = dialect.idTokenClaims + [.events]
        let found = markers.filter(claims.contains).map(\.string)
        let names = markers.map(\.string).joined(separator: ", ")
        if case .claimMissing(let claim) = rejection {
            return .checked(
                .tokenKind, rejection, passed: "",
                failed: Diagnosis(
                    "The token has no \(claim.string), by which this provider's access tokens are recognized.",
                    fix: """
                        Send the access_token of the provider's response, not the ID Token. If that is it, correct \
                        access_token_claim of the provider \(policy.id).
                        """),
                expected: claim.string, found: "absent")
        }
        return .checked(
            .tokenKind, rejection, passed: "The token has no claim of an ID Token or a notification.",
            failed: found == [ClaimName.events.string]
                ? .notification(token)
                : Diagnosis(
                    "The token is an ID Token, not an access token: it has \(found.joined(separator: " and ")).",
                    fix: "Send the access_token of the provider's response here. POST /v1/verify verifies ID Tokens."),
            expected: "none of \(names)", found: found.isEmpty ? nil : found.joined(separator: ", "))
    }

    private func resourceAudience(_ rejection: Rejection?) -> Check {
        let found = claims.texts(.audience)
        let isConfigured = found.contains(where: policy.audiences.containsExactly)
        let diagnosis =
            if policy.audiences.isEmpty {
                Diagnosis(
                    "The token has an audience, but tokens of the provider \(policy.id) must have none.",
                    fix: "If it is your API's identifier, \(policy.audienceAdvice).")
            } else if isConfigured, let audience = parameters.audience {
                Diagnosis(
                    """
                    The token is for \(Redaction.list(found)), which is configured, but the request accepts only \
                    \(Redaction.text(audience)).
                    """,
                    fix: "Set audience to the identifier of the API that was called, or omit it.")
            } else {
                Diagnosis(
                    "The token is for \(Redaction.list(found)), but \(policy.audienceOwner) has other audiences.",
                    fix: """
                        If it is your API's identifier, \(policy.audienceAdvice). Otherwise, \
                        have the client request a token for this API.
                        """)
            }
        return made(
            .audience, rejection, passed: "The token is for this API.", failed: diagnosis,
            expected: expectedAudience, found: found.isEmpty ? nil : Redaction.list(found))
    }

    private func client(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Check {
        let header = dialect.loadBalancer == nil ? nil : token.jws.headerObject?["client"]?.string
        let claim = dialect.clientClaims.first(where: claims.hasValue)
        let found = (header ?? claim.flatMap(claims.text)).map(Redaction.text)
        if let rejection, case .claimMissing(let claim) = rejection {
            return .failed(.client, rejection, missingClient(claim))
        }
        guard rejection != nil || found != nil else {
            return .notAsked(.client, "This provider's access tokens don't have to name a client.")
        }
        return made(
            .client, rejection,
            passed: policy.authorizedParties.isEmpty
                ? "The token names its client; the settings accept any (authorized_parties)."
                : "authorized_parties lists the token's client.",
            failed: Diagnosis(
                "The token was issued to a client that authorized_parties of the provider \(policy.id) does not list.",
                fix: "If the client may call this API, add it to authorized_parties of the provider \(policy.id)."),
            expected: policy.authorizedParties.isEmpty ? nil : Redaction.list(policy.authorizedParties), found: found)
    }

    private func missingClient(_ claim: ClaimName) -> Diagnosis {
        Diagnosis(
            "The token does not name its client: it has no \(claim.string).",
            fix: """
                Send the access_token of the provider's response. If that is it, set client_claims of the provider \
                \(policy.id) to the claims that name the client, or to [] if there is none.
                """)
    }

    private func userOrMachine(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Check {
        let isMachine = claims.text(.subject)?.isEmpty == true
        return .checked(
            .subject, rejection,
            passed: isMachine
                ? "The token names a machine, and the settings accept machines." : "The token has a valid sub.",
            failed: isMachine
                ? Diagnosis(
                    "The token is a service token: its sub is empty.",
                    fix: "If machines may call this API, set service_tokens: true for the provider \(policy.id).")
                : subjectDiagnosis,
            expected: expectedSubjectLength, found: fingerprint(of: .subject))
    }

    private func binding(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Check {
        var methods: [String] = []
        claims.object[ClaimName.confirmation.json]?.object?.forEachMember { name, _ in methods.append(name) }
        let isBound = claims.contains(.confirmation)
        guard rejection != nil || isBound else {
            return .passed(.binding, "The token is not bound to a key: it has no cnf.")
        }
        let found = !isBound ? "no cnf" : methods.isEmpty ? "cnf" : "cnf with \(Redaction.list(methods))"
        return made(
            .binding, rejection,
            passed: dialect.acceptsUncheckedBindings
                ? "The token is bound to a key, and the settings accept it even without proof of the key (unchecked_bindings: true)."
                : "The token is bound to a key, and its sender has proven the key.\(methods.contains("jkt") ? Self.uncheckedOfProofs : "")",
            failed: bindingDiagnosis(rejection, dialect),
            expected: dialect.requiredBinding.map { "binding: \($0.rawValue)" }, found: found)
    }

    private static let uncheckedOfProofs =
        " Whether the DPoP proof is new is not checked here, and neither is the age of its nonce."

    private func bindingDiagnosis(_ rejection: Rejection?, _ dialect: AccessTokenDialect) -> Diagnosis {
        switch rejection {
        case .bindingMissing:
            Diagnosis(
                "The token's cnf does not name the key that is needed.",
                fix: """
                    Have the client request a token that is bound to its key, or change binding of the provider \
                    \(policy.id).
                    """)
        case .bindingMismatch:
            Diagnosis(
                "The token is bound to another key: the thumbprint in its cnf is not that of the client's certificate, or of the DPoP proof's key.",
                fix: """
                    Check that certificate is that of the client's own connection. If it is, the token was stolen: \
                    refuse it.
                    """)
        case .proofInvalid(let fault):
            Diagnosis(
                "The DPoP proof is refused: \(fault.text).",
                fix: """
                    Have the client make a new proof for this request, and check that dpop has the request as the client \
                    sent it.
                    """)
        case .proofNonceRequired:
            Diagnosis(
                "The DPoP proof has no nonce that Assay has made.",
                fix: """
                    Pass the dpop_nonce of an answer to the client in the header DPoP-Nonce, and have it repeat the request \
                    with a proof that has it.
                    """)
        default:
            Diagnosis(
                "The token is bound to its client's key (cnf), and nothing proves that the sender has the key.",
                fix: """
                    Send what cnf names (x5t#S256: certificate; jkt: dpop, with the scheme DPoP), or have the provider issue bearer tokens for this API. \
                    If it binds all its tokens, set unchecked_bindings: true for the provider \(policy.id) to accept \
                    them; a stolen one then passes too.
                    """)
        }
    }

    private func scopes(_ rejection: Rejection?, needed: [String]) -> Check {
        let granted = (try? Authorization.scopes(in: claims)) ?? []
        let missing = needed.filter { !granted.containsExactly($0) }
        return made(
            .scopes, rejection,
            passed: needed.isEmpty
                ? "The request requires no scopes." : "The token grants every scope that the request requires.",
            failed: Diagnosis(
                "The token does not grant \(Redaction.list(missing)).",
                fix: """
                    Have the client request the scope, and check that the provider may grant it to this user and client.
                    """),
            expected: needed.isEmpty ? nil : Redaction.list(needed),
            found: granted.isEmpty ? "no scope" : Redaction.list(granted))
    }
}

extension Check {
    /// Like ``CheckDescriptions/made(_:_:passed:failed:expected:found:)``, but the diagnosis explains every rejection.
    static func checked(
        _ name: Name, _ rejection: Rejection?, passed: @autoclosure () -> String,
        failed diagnosis: @autoclosure () -> Diagnosis,
        expected: String?, found: String?
    ) -> Check {
        guard let rejection else { return .passed(name, passed(), expected: expected, found: found) }
        return .failed(name, rejection, diagnosis(), expected: expected, found: found)
    }
}
