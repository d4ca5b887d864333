// Vapor's jwt-kit in a Hummingbird server: what a Swift backend would use today.
//
// usage: jwtkit PORT KEYS.json
import Crypto
import Foundation
import Hummingbird
import JWTKit
import Logging
import NIOPosix

struct SignInRequest: Decodable {
    var idToken: String
    var nonce: String?

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case nonce
    }
}

struct Claims: JWTPayload {
    var iss: IssuerClaim
    var aud: AudienceClaim
    var exp: ExpirationClaim
    var iat: IssuedAtClaim
    var sub: SubjectClaim
    var nonce: String?
    var email: String?
    var emailVerified: BoolClaim?
    var isPrivateEmail: BoolClaim?
    var realUserStatus: Int?

    enum CodingKeys: String, CodingKey {
        case iss, aud, exp, iat, sub, nonce, email
        case emailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case realUserStatus = "real_user_status"
    }

    func verify(using algorithm: some JWTAlgorithm) async throws {
        try exp.verifyNotExpired()
        try aud.verifyIntendedAudience(includes: "com.example.app")
        guard iss.value == "https://appleid.apple.com" else {
            throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "another issuer")
        }
    }
}

struct Identity: ResponseEncodable {
    var issuer: String
    var subject: String
    var audience: [String]
    var expiresAt: Int
    var issuedAt: Int
    var email: String?
    var emailVerified: Bool?
    var isPrivateEmail: Bool?
    var realUserStatus: Int?

    init(_ claims: Claims) {
        issuer = claims.iss.value
        subject = claims.sub.value
        audience = claims.aud.value
        expiresAt = Int(claims.exp.value.timeIntervalSince1970)
        issuedAt = Int(claims.iat.value.timeIntervalSince1970)
        email = claims.email
        emailVerified = claims.emailVerified?.value
        isPrivateEmail = claims.isPrivateEmail?.value
        realUserStatus = claims.realUserStatus
    }
}

func hexadecimal(_ digest: SHA256Digest) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = Int(arguments[1]) else {
    FileHandle.standardError.write(Data("usage: jwtkit PORT KEYS.json\n".utf8))
    exit(2)
}
let keys = JWTKeyCollection()
try await keys.add(jwksJSON: String(contentsOfFile: arguments[2], encoding: .utf8))

let router = Router()
router.post("v1/verify") { request, context in
    let asked = try await request.decode(as: SignInRequest.self, context: context)
    guard let claims = try? await keys.verify(asked.idToken, as: Claims.self) else { throw HTTPError(.unauthorized) }
    if let nonce = asked.nonce, hexadecimal(SHA256.hash(data: Data(nonce.utf8))) != claims.nonce {
        throw HTTPError(.unauthorized)
    }
    return Identity(claims)
}

var logger = Logger(label: "jwtkit")
logger.logLevel = .error
let application = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: port), backlog: 4096),
    eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 2)),
    logger: logger)
try await application.runService()
