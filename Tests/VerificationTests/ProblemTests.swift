import Foundation
import IDToken
import JOSE
import OAuth
import Testing
import TestSupport
@testable import Verification

@Suite struct ProblemTests {
    /// Problems of every code, and of every detail.
    static let all: [Problem] = [
        .requestInvalid("This should be that."),
        .audienceNotConfigured,
        .callerUnauthenticated, .callerForbidden,
        .notFound,
        .featureOff(.signIns),
        .featureOff(.clients),
        .featureOff(.notifications),
        .featureOff(.accessTokens),
        .featureOff(.forwardAuth),
        .featureOff(.resources),
        .policyUnknown,
        .metadataUnknown,
        .resourceUnknown(nearest: nil),
        .resourceUnknown(nearest: "mcp"),
        .issuerNotOfResource,
        .tokenMissing,
        .notFoundByAdmin(paths: "/livez"),
        .consoleOff,
        .providerUnknown(),
        .providerUnknown(nearest: "google"),
        .providerOfAccessTokens,
        .providerOfIDTokens,
        .methodNotAllowed(allow: "GET"),
        .requestTimeout,
        .requestTooLarge,
        .contentTypeUnsupported,
        .headersTooLarge,
        .keysUnavailable(retryAfterSeconds: 7),
        .overloaded(limit: "limits.max_in_flight"),
        .shuttingDown,
        .rejected(.cryptographyUnavailable),
        .rejected(.tokenMalformed(.tooLong)),
        .rejected(.tokenMalformed(.encrypted)),
        .rejected(.tokenMalformed(.empty)),
        .rejected(.tokenMalformed(.serialization)),
        .rejected(.tokenMalformed(.header)),
        .rejected(.tokenMalformed(.payload)),
        .rejected(.tokenMalformed(.signature)),
        .rejected(.headerUnsupported),
        .rejected(.algorithmNotAllowed),
        .rejected(.keyNotFound),
        .rejected(.keyUnsuitable),
        .rejected(.signatureInvalid),
        .rejected(.issuerMismatch),
        .rejected(.audienceMismatch),
        .rejected(.authorizedPartyMismatch),
        .rejected(.tokenExpired),
        .rejected(.tokenNotYetValid),
        .rejected(.tokenTooOld),
        .rejected(.authTimeTooOld),
        .rejected(.claimMissing(ClaimName("sub"))),
        .rejected(.claimInvalid(ClaimName("exp"))),
        .rejected(.claimMissing(ClaimName("sub")), of: .accessToken),
        .rejected(.claimMissing(ClaimName("exp")), of: .accessToken),
        .rejected(.claimMissing(ClaimName("sub")), of: .notification),
        .rejected(.claimMissing(ClaimName("exp")), of: .notification),
        .rejected(.claimInvalid(ClaimName("events"))),
        .rejected(.claimInvalid(ClaimName("scope"))),
        .rejected(.nonceRequired),
        .rejected(.nonceMissing),
        .rejected(.nonceMismatch),
        .rejected(.atHashMissing),
        .rejected(.atHashMismatch),
        .rejected(.cHashMissing),
        .rejected(.cHashMismatch),
        .rejected(.sessionRevoked),
        .rejected(.subjectMismatch),
        .rejected(.scopeMissing, of: .accessToken),
        .rejected(.bindingRequired, of: .accessToken),
        .rejected(.bindingMissing, of: .accessToken),
        .rejected(.bindingMismatch, of: .accessToken),
        .rejected(.proofInvalid(.form), of: .accessToken),
        .rejected(.proofNonceRequired, of: .accessToken),
        .rejected(.groupsOverage, of: .accessToken),
        .rejected(.tokenInactive, of: .opaqueToken),
        .rejected(.tokenMalformed(.serialization), of: .opaqueToken),
        .rejected(.issuerMismatch, of: .opaqueToken),
        .rejected(.audienceMismatch, of: .opaqueToken),
        .rejected(.claimMissing(ClaimName("aud")), of: .opaqueToken),
        .rejected(.claimMissing(ClaimName("iat")), of: .opaqueToken),
        .rejected(.claimInvalid(ClaimName("cnf")), of: .opaqueToken),
        .rejected(.scopeMissing, of: .opaqueToken),
        .rejected(.subjectMismatch, of: .opaqueToken),
        .tokenOfAnotherIssuer,
        .opaqueTokenUnnamed,
        .providerAnswerInvalid(.proofWithoutKey),
        .providerAnswerInvalid(.unsigned),
        .providerAnswerInvalid(.signedResponse(.time)),
        .encryption(.malformed),
        .encryption(.headerUnsupported),
        .encryption(.algorithmNotAllowed),
        .encryption(.contentMalformed),
        .encryption(.failed),
        .encryption(.required(.idToken)),
        .encryption(.required(.userInfo)),
        .encryption(.required(.response)),
        .encryption(.required(.notification)),
        .nonceReplayed, .bindingInvalid, .urlNotAllowed,
        .proofReplayed,
        .requestUnknown,
        .clientNotConfigured,
        .signInNotSupported, .pushedRequestsNotSupported, .requestKeyMissing, .requestAudienceUnknown,
        .signInInvalid,
        .signInExpired,
        .signInReplayed,
        .notificationsNotConfigured,
        .rejected(.tokenMalformed(.tooLong), of: .notification),
        .rejected(.tokenMalformed(.encrypted), of: .notification),
        .rejected(.tokenMalformed(.serialization), of: .notification),
        .rejected(.headerUnsupported, of: .notification),
        .rejected(.issuerMismatch, of: .notification),
        .rejected(.audienceMismatch, of: .notification),
        .rejected(.tokenExpired, of: .notification),
        .rejected(.tokenNotYetValid, of: .notification),
        .rejected(.tokenTooOld, of: .notification),
        .rejected(.claimMissing(ClaimName("jti")), of: .notification),
        .rejected(.claimInvalid(ClaimName("events")), of: .notification),
        .rejected(.claimInvalid(ClaimName("nonce")), of: .notification),
        .redirectURINotConfigured,
        .revocationNotSupported,
        .postLogoutRedirectURINotConfigured, .signOutNotSupported,
        .grantInvalid(.invalidGrant),
        .providerRefused(.other),
        .clientRejected(.invalidClient),
        .providerAnswerInvalid(.member(.tokenType)),
        .endpointUnknown,
        .callsFull,
        .storeUnavailable(isSpent: false),
        .storeUnavailable(isSpent: true),
        .stateMismatch,
        .redirectURIMismatch, .acrMismatch,
        .responseInvalid(.plain), .responseInvalid(.beside), .responseInvalid(.refused(code: "token_expired")),
        .responseInvalid(.encryptedUnexpectedly), .responseInvalid(.content),
        .responseIssuerMismatch(.missing),
        .responseIssuerMismatch(.notTheProviders),
        .responseIssuerMismatch(.notTheTokens),
        .signInDenied(context: nil),
    ]

    /// The codes of `openapi.yaml`, with their statuses.
    private static func contract() throws -> [String: Int] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = root.deletingLastPathComponent().appending(path: "openapi.yaml")
        let document = try String(contentsOf: file, encoding: .utf8)
        let rows = document.matches(of: /status: (\d{3}), code: (\w+)/).map { (String($0.2), Int($0.1) ?? 0) }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    @Test func `the codes are those of openapi yaml, all of them and no others, with their statuses`() throws {
        let contract = try Self.contract()
        #expect(Set(Self.all.map(\.code)) == Set(contract.keys))
        for problem in Self.all { #expect(contract[problem.code] == problem.status, "\(problem)") }
        for code in Rejection.Code.allCases { #expect(contract[code.rawValue] != nil, "\(code)") }
    }

    @Test(arguments: all.indices)
    func `each detail is one sentence that ends in a dot`(index: Int) {
        let problem = Self.all[index]
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
        let titles = Dictionary(grouping: Self.all, by: \.code).mapValues { Set($0.map(\.title)) }
        #expect(titles.values.allSatisfy { $0.count == 1 })
        #expect(Set(titles.values.compactMap(\.first)).count == titles.count)
        #expect(Set(Self.all.map(\.detail)).count == Self.all.count)
    }

    @Test(arguments: all.indices)
    func `each is written with every member, and claim where it is about one`(index: Int) throws {
        let problem = Self.all[index]
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
        case .signInDenied(context: nil): expected["context"] = .null
        default: break
        }
        #expect(members == expected)
    }
}
