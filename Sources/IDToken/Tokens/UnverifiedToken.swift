public import JOSE

/// A well-formed token that has not been verified.
///
/// It gives access only to what is needed to find the provider and the key that can verify it.
public struct UnverifiedToken: Sendable {
    package let jws: CompactJWS
    package let claims: Claims

    /// In bytes, unless the verifier has another limit. Longer tokens are rejected without being parsed.
    public static let maximumLength = 16 * 1024
    /// The limits that a verifier can have.
    package static let maximumLengths = 1024...48 * 1024

    /// Reads a token: three parts in strict base64url; header and payload must each be one strict JSON object.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    public init(_ text: String) throws(Rejection) {
        try self.init(Array(text.utf8)[...], headerCache: JOSEHeaderCache())
    }

    /// - Parameter headerCache: headers that this thread has parsed before.
    init(
        _ text: borrowing ArraySlice<UInt8>, upTo limit: Int = maximumLength, headerCache: borrowing JOSEHeaderCache
    ) throws(Rejection) {
        guard text.count <= limit else { throw .tokenMalformed(.tooLong) }
        let jws: CompactJWS
        do throws(JWSError) {
            jws = try CompactJWS(text, headerCache: headerCache)
        } catch {
            throw text.isEmpty ? .tokenMalformed(.empty) : Rejection(error)
        }
        self.jws = jws
        do throws(JSONError) {
            claims = Claims(try JSONObject(jws.payload))
        } catch {
            throw .tokenMalformed(.payload)
        }
    }

    /// `iss`, not verified; `nil` if it is absent or not a string.
    public var unverifiedIssuer: String? { claims.text(.issuer) }

    /// The header's `kid`, not verified.
    public var keyID: String? { jws.header.keyID }

    /// The header's `alg`, not verified; `nil` if it is not supported.
    public var algorithm: SignatureAlgorithm? { jws.header.algorithm }

    /// Whether fetching keys for this token could help: its unverified issuer, audience and expiry would pass.
    ///
    /// Without this check, junk tokens could trigger requests to a provider.
    public func wouldPassClaims(of policy: ProviderPolicy, now: UnixTime) -> Bool {
        (try? checkClaims(of: policy, now: now)) != nil
    }

    /// Checks the unverified issuer, audience and expiry.
    ///
    /// - Throws: the rejection for the first that would not pass.
    package func checkClaims(of policy: ProviderPolicy, now: UnixTime) throws(Rejection) {
        _ = try checkIssuer(claims, policy)
        _ = try checkAudience(claims, policy, narrowedTo: nil)
        _ = try checkExpiration(claims, policy, now: now)
    }

    /// Reads an assertion of an AWS load balancer, whose parts are padded; see ``JOSE/CompactJWS/init(padded:)``.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    package init(padded text: ArraySlice<UInt8>, upTo limit: Int = maximumLength) throws(Rejection) {
        guard text.count <= limit else { throw .tokenMalformed(.tooLong) }
        do throws(JWSError) {
            jws = try CompactJWS(padded: text)
        } catch {
            throw Rejection(error)
        }
        guard let object = try? JSONObject(jws.payload) else { throw .tokenMalformed(.payload) }
        claims = Claims(object)
    }
}
