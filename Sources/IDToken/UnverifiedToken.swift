public import JOSE
private import JSON

/// An ID Token in the right form, of which nothing has been verified.
///
/// The only thing to be read from it is who it claims to be from, so that the right provider can be asked.
public struct UnverifiedToken: Sendable {
    package let jws: CompactJWS
    package let claims: Claims

    /// Longer tokens are refused unread.
    public static let maximumLength = 16 * 1024

    /// Reads a token: three parts of strict base64url, header and payload each one strict JSON object.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    public init(_ text: String) throws(Rejection) {
        try self.init(Array(text.utf8)[...], headerCache: JOSEHeaderCache())
    }

    /// - Parameter headerCache: the headers that this thread has seen before.
    init(_ text: borrowing ArraySlice<UInt8>, headerCache: borrowing JOSEHeaderCache) throws(Rejection) {
        guard text.count <= Self.maximumLength else { throw .tokenMalformed(.tooLong) }
        let jws: CompactJWS
        do throws(JWSError) {
            jws = try CompactJWS(text, headerCache: headerCache)
        } catch {
            throw Rejection(error)
        }
        self.jws = jws
        do throws(JSONError) {
            claims = Claims(try JSONObject(jws.payload))
        } catch {
            throw .tokenMalformed(.payload)
        }
    }

    /// `iss`, which anyone may have written; `nil` where it is absent or no string.
    public var unverifiedIssuer: String? { claims.text(.issuer) }

    /// The header's `kid`, which anyone may have written.
    public var keyID: String? { jws.header.keyID }

    /// The header's `alg`, where it is one that is supported; anyone may have written it.
    public var algorithm: SignatureAlgorithm? { jws.header.algorithm }

    /// Whether fetching keys for this token could help: its unverified issuer, audience and expiry would pass.
    ///
    /// Without this gate, junk could make us call a provider.
    public func wouldPassClaims(of policy: ProviderPolicy, now: UnixTime) -> Bool {
        do throws(Rejection) {
            _ = try checkIssuer(claims, policy)
            _ = try checkAudience(claims, policy, narrowedTo: nil)
            _ = try checkExpiration(claims, policy, now: now)
            return true
        } catch {
            return false
        }
    }
}
