import IDToken
import JOSE
import OAuth
import Testing
import TestSupport
@testable import Verification

@Suite struct ProblemTests {
    /// Every problem, with its code and status in the contract.
    static let all: [(problem: Problem, code: String, status: Int)] = [
        (.requestInvalid("This should be that."), "request_invalid", 400),
        (.audienceNotConfigured, "audience_not_configured", 400),
        (.callerUnauthenticated, "caller_unauthenticated", 401),
        (.notFound, "not_found", 404),
        (.featureOff(.signIns), "not_found", 404),
        (.featureOff(.clients), "not_found", 404),
        (.featureOff(.notifications), "not_found", 404),
        (.featureOff(.accessTokens), "not_found", 404),
        (.featureOff(.forwardAuth), "not_found", 404),
        (.policyUnknown, "not_found", 404),
        (.notFoundByAdmin, "not_found", 404),
        (.consoleOff, "not_found", 404),
        (.providerUnknown(), "provider_unknown", 404),
        (.providerUnknown(nearest: "google"), "provider_unknown", 404),
        (.providerOfAccessTokens, "provider_unknown", 404),
        (.providerOfIDTokens, "provider_unknown", 404),
        (.methodNotAllowed(allow: "GET"), "method_not_allowed", 405),
        (.requestTimeout, "request_timeout", 408),
        (.requestTooLarge, "request_too_large", 413),
        (.contentTypeUnsupported, "content_type_unsupported", 415),
        (.headersTooLarge, "headers_too_large", 431),
        (.keysUnavailable(retryAfterSeconds: 7), "keys_unavailable", 503),
        (.overloaded(limit: "limits.max_in_flight"), "overloaded", 503),
        (.shuttingDown, "shutting_down", 503),
        (.rejected(.cryptographyUnavailable), "internal", 500),
        (.rejected(.tokenMalformed(.tooLong)), "token_malformed", 422),
        (.rejected(.tokenMalformed(.encrypted)), "token_malformed", 422),
        (.rejected(.tokenMalformed(.serialization)), "token_malformed", 422),
        (.rejected(.tokenMalformed(.header)), "token_malformed", 422),
        (.rejected(.tokenMalformed(.payload)), "token_malformed", 422),
        (.rejected(.tokenMalformed(.signature)), "token_malformed", 422),
        (.rejected(.headerUnsupported), "header_unsupported", 422),
        (.rejected(.algorithmNotAllowed), "algorithm_not_allowed", 422),
        (.rejected(.keyNotFound), "key_not_found", 422),
        (.rejected(.keyUnsuitable), "key_unsuitable", 422),
        (.rejected(.signatureInvalid), "signature_invalid", 422),
        (.rejected(.issuerMismatch), "issuer_mismatch", 422),
        (.rejected(.audienceMismatch), "audience_mismatch", 422),
        (.rejected(.authorizedPartyMismatch), "authorized_party_mismatch", 422),
        (.rejected(.tokenExpired), "token_expired", 422),
        (.rejected(.tokenNotYetValid), "token_not_yet_valid", 422),
        (.rejected(.tokenTooOld), "token_too_old", 422),
        (.rejected(.authTimeTooOld), "auth_time_too_old", 422),
        (.rejected(.claimMissing(ClaimName("sub"))), "claim_missing", 422),
        (.rejected(.claimInvalid(ClaimName("exp"))), "claim_invalid", 422),
        (.rejected(.claimMissing(ClaimName("sub")), of: .accessToken), "claim_missing", 422),
        (.rejected(.claimMissing(ClaimName("exp")), of: .accessToken), "claim_missing", 422),
        (.rejected(.claimMissing(ClaimName("sub")), of: .notification), "claim_missing", 422),
        (.rejected(.claimMissing(ClaimName("exp")), of: .notification), "claim_missing", 422),
        (.rejected(.claimInvalid(ClaimName("events"))), "claim_invalid", 422),
        (.rejected(.claimInvalid(ClaimName("scope"))), "claim_invalid", 422),
        (.rejected(.nonceRequired), "nonce_required", 422),
        (.rejected(.nonceMissing), "nonce_missing", 422),
        (.rejected(.nonceMismatch), "nonce_mismatch", 422),
        (.rejected(.atHashMissing), "at_hash_missing", 422),
        (.rejected(.atHashMismatch), "at_hash_mismatch", 422),
        (.rejected(.cHashMissing), "c_hash_missing", 422),
        (.rejected(.cHashMismatch), "c_hash_mismatch", 422),
        (.rejected(.sessionRevoked), "session_revoked", 422),
        (.rejected(.subjectMismatch), "subject_mismatch", 422),
        (.rejected(.scopeMissing, of: .accessToken), "scope_missing", 422),
        (.rejected(.bindingRequired, of: .accessToken), "binding_required", 422),
        (.rejected(.groupsOverage, of: .accessToken), "groups_overage", 422),
        (.nonceReplayed, "nonce_replayed", 422),
        (.clientNotConfigured, "client_not_configured", 400),
        (.signInNotSupported, "sign_in_not_supported", 400),
        (.signInInvalid, "sign_in_invalid", 422),
        (.signInExpired, "sign_in_expired", 422),
        (.signInReplayed, "sign_in_replayed", 422),
        (.notificationsNotConfigured, "notifications_not_configured", 400),
        (.rejected(.tokenMalformed(.tooLong), of: .notification), "token_malformed", 422),
        (.rejected(.tokenMalformed(.encrypted), of: .notification), "token_malformed", 422),
        (.rejected(.tokenMalformed(.serialization), of: .notification), "token_malformed", 422),
        (.rejected(.headerUnsupported, of: .notification), "header_unsupported", 422),
        (.rejected(.issuerMismatch, of: .notification), "issuer_mismatch", 422),
        (.rejected(.audienceMismatch, of: .notification), "audience_mismatch", 422),
        (.rejected(.tokenExpired, of: .notification), "token_expired", 422),
        (.rejected(.tokenNotYetValid, of: .notification), "token_not_yet_valid", 422),
        (.rejected(.tokenTooOld, of: .notification), "token_too_old", 422),
        (.rejected(.claimMissing(ClaimName("jti")), of: .notification), "claim_missing", 422),
        (.rejected(.claimInvalid(ClaimName("events")), of: .notification), "claim_invalid", 422),
        (.rejected(.claimInvalid(ClaimName("nonce")), of: .notification), "claim_invalid", 422),
        (.redirectURINotConfigured, "redirect_uri_not_configured", 400),
        (.revocationNotSupported, "revocation_not_supported", 400),
        (.grantInvalid(.invalidGrant), "grant_invalid", 422),
        (.providerRefused(.other), "provider_refused", 422),
        (.clientRejected(.invalidClient), "client_rejected", 502),
        (.providerAnswerInvalid(.member(.tokenType)), "provider_answer_invalid", 502),
        (.endpointUnknown, "provider_unavailable", 503),
        (.callsFull, "provider_unavailable", 503),
        (.storeUnavailable(isSpent: false), "store_unavailable", 503),
        (.storeUnavailable(isSpent: true), "store_unavailable", 503),
    ]

    /// The contract's codes.
    private static let contract: Set<String> = [
        "request_invalid", "not_found", "method_not_allowed", "request_timeout", "request_too_large",
        "headers_too_large",
        "content_type_unsupported", "caller_unauthenticated", "provider_unknown", "audience_not_configured",
        "token_malformed", "header_unsupported", "algorithm_not_allowed", "key_not_found", "key_unsuitable",
        "signature_invalid", "issuer_mismatch", "audience_mismatch", "authorized_party_mismatch", "token_expired",
        "token_not_yet_valid", "token_too_old", "auth_time_too_old", "claim_missing", "claim_invalid", "nonce_required",
        "nonce_missing", "nonce_mismatch", "at_hash_missing", "at_hash_mismatch", "c_hash_missing", "c_hash_mismatch",
        "session_revoked", "subject_mismatch", "scope_missing", "binding_required", "groups_overage", "nonce_replayed",
        "client_not_configured",
        "sign_in_not_supported",
        "notifications_not_configured", "redirect_uri_not_configured", "revocation_not_supported", "grant_invalid",
        "provider_refused", "client_rejected", "provider_answer_invalid", "provider_unavailable",
        "sign_in_invalid", "sign_in_expired", "sign_in_replayed", "store_unavailable", "keys_unavailable", "overloaded",
        "shutting_down", "internal",
    ]

    @Test(arguments: all.indices)
    func `each problem has its code and status`(index: Int) {
        let (problem, code, status) = Self.all[index]
        #expect(problem.code == code)
        #expect(problem.status == status)
    }

    @Test func `the codes are the contract's, all of them and no others`() {
        #expect(Set(Self.all.map(\.code)) == Self.contract)
        #expect(Set(Rejection.Code.allCases.map(\.rawValue)).isSubset(of: Self.contract))
    }

    @Test(arguments: all.indices)
    func `each detail is one sentence that ends in a dot`(index: Int) {
        let problem = Self.all[index].problem
        expectSentence(problem.detail)
        #expect(!problem.title.isEmpty && !problem.title.hasSuffix("."))
        #expect(problem.title.first?.isUppercase == true)
    }

    @Test func `a notification's problem that says nothing else is that of an ID Token`() {
        let rejections: [Rejection] = [
            .signatureInvalid, .keyNotFound, .algorithmNotAllowed, .tokenMalformed(.payload),
        ]
        for rejection in rejections {
            let (problem, other) = (Problem.rejected(rejection, of: .notification), Problem.rejected(rejection))
            #expect((problem.code, problem.status) == (other.code, other.status))
            #expect(problem.detail == other.detail)
        }
        #expect(Problem.rejected(.cryptographyUnavailable, of: .notification).status == 500)
    }

    @Test func `problems of one code have one title, and problems that differ differ in detail`() {
        let titles = Dictionary(grouping: Self.all, by: \.code).mapValues { Set($0.map(\.problem.title)) }
        #expect(titles.values.allSatisfy { $0.count == 1 })
        #expect(Set(titles.values.compactMap(\.first)).count == titles.count)
        #expect(Set(Self.all.map(\.problem.detail)).count == Self.all.count)
    }

    @Test(arguments: all.indices)
    func `each is written with every member, and claim where it is about one`(index: Int) throws {
        let problem = Self.all[index].problem
        var writer = JSONWriter()
        problem.write(to: &writer, requestID: "an \"id\"")
        let members = try #require(try JSONTree(readingObject: writer.bytes).object)
        var expected: [String: JSONTree] = [
            "type": .string("urn:assay:problem:" + problem.code), "title": .string(problem.title),
            "status": .integer(Int64(problem.status)), "detail": .string(problem.detail),
            "code": .string(problem.code), "request_id": .string("an \"id\""),
        ]
        switch problem {
        case .rejected(.claimMissing(let claim), _), .rejected(.claimInvalid(let claim), _):
            expected["claim"] = .string(claim.string)
            #expect(problem.detail.contains(claim.string))
        case .grantInvalid(let name), .clientRejected(let name), .providerRefused(let name):
            expected["provider_error"] = .string(name.rawValue)
        default: break
        }
        #expect(members == expected)
    }
}
