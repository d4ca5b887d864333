package import IDToken
private import JOSE
package import OAuth
internal import OpenSSL
package import Verification

/// A sign-in that has begun: the contents of its handle.
package struct SignIn: Equatable, Sendable {
    package var provider: String
    /// The client ID to sign in to, one of the provider's audiences.
    package var audience: String
    package var begunAt: UnixTime
    package var expiresAt: UnixTime
    /// The maximum time between the user's authentication and the start of the sign-in, in seconds; `nil`: any.
    package var maximumAuthenticationAgeSeconds: Int64?
    /// The subject of the user who must finish it; `nil`: any user.
    package var subject: String?
    /// The issuer of the subject; `nil` if the provider has only one issuer.
    package var issuer: String?
    /// The customer's connection, for a provider with `issuers: any`; its audience is ``audience``.
    package var connection: Connection?
    /// The backend's own data, returned at the finish.
    package var context: String?
    /// The key that its grant will be bound to; `nil` if grants of its client are not bound.
    package var proofKey: ProofKey?
    package var kind: Kind

    /// How the user signs in, and what ties the result to this sign-in.
    package enum Kind: Equatable, Sendable {
        /// In an app, with the provider's SDK.
        case native(Nonce)
        case browser(BrowserSignIn)
    }

    /// The nonce that the ID Token must have; `nil` if the provider's nonces are not checked.
    package var nonce: Nonce? {
        switch kind {
        case .native(let nonce): nonce
        case .browser(let browser): browser.nonce
        }
    }
}

/// A sign-in in a browser, by redirects.
package struct BrowserSignIn: Equatable, Sendable {
    /// Returned by the provider with the code, so that nobody else's response finishes this sign-in.
    package var state: State
    /// `nil` if the provider's nonces are not checked.
    package var nonce: Nonce?
    /// `nil` if the provider's token endpoint refuses PKCE.
    package var verifier: CodeVerifier?
    package var redirectURI: String
    /// The provider's issuer, so that the code is not sent to another server that later gets the same id.
    package var issuer: String
    /// Whether the provider said, when the sign-in began, that its responses name the issuer (RFC 9207).
    var requiresResponseIssuer: Bool
    /// The profile that its request kept to.
    var profile: SecurityProfile?
    /// `nil` for most.
    package var requested: RequestedChecks?
}

/// What the finish does beyond the usual, because the authorization request asked for it.
package struct RequestedChecks: Equatable, Sendable {
    /// The token's `acr` must be one of these; empty: any.
    var contextClasses: [String] = []
    /// Whether the token must have an `auth_time`.
    package var requiresAuthenticationTime = false
    /// What the access token is for, which the token endpoint is told too (RFC 8707, section 2.2).
    package var resources: [String] = []
    /// Whether the response must be signed (JARM).
    var responseIsSigned = false
    /// Whether an ID Token must come with the code from the authorization endpoint.
    var hasFrontToken = false
}

/// The raw nonce. The provider receives its text, or the hash of its text.
package typealias Nonce = RandomOctets<NoncePurpose>
/// The `state` of an authorization request (RFC 6749, section 10.12).
package typealias State = RandomOctets<StatePurpose>

/// Random octets, sent as base64url.
package struct RandomOctets<Purpose: RandomPurpose>: Equatable, Sendable {
    package let octets: [UInt8]

    /// 32 characters, which some providers demand at least of a state.
    private static var length: Int { 24 }

    /// - Returns: `nil` unless there are as many octets as now, or in an earlier release: sign-ins that have begun there
    ///   are finished here.
    package init?(_ octets: [UInt8]) {
        guard octets.count == Self.length || octets.count == Purpose.earlierLength else { return nil }
        self.octets = octets
    }

    private init(unchecked octets: [UInt8]) { self.octets = octets }

    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    static func random() throws(OpenSSLError) -> Self { Self(unchecked: try randomBytes(length)) }

    package var text: String { String(decoding: Base64URL.encode(octets), as: UTF8.self) }
}

/// The purpose of random octets.
package protocol RandomPurpose {
    /// The number of octets in earlier releases.
    static var earlierLength: Int { get }
}

package enum NoncePurpose: RandomPurpose {
    package static var earlierLength: Int { 24 }
}
package enum StatePurpose: RandomPurpose {
    package static var earlierLength: Int { 16 }
}

/// Encodes a sign-in for its handle. A number is eight octets, big-endian. A text has a prefix of two octets with its
/// length plus one, or 0 for `nil`. The maximum age is encoded as text.
///
/// A custom format, because handles are limited to 2 KiB and nothing else reads them. A change of the format needs a
/// new ``HandleVersion``.
extension SignIn {
    /// The caller overwrites it after use.
    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(text: provider)
        writer.write(text: audience)
        writer.write(octets: nonce?.octets)
        writer.write(number: begunAt.seconds)
        writer.write(number: expiresAt.seconds)
        writer.write(text: maximumAuthenticationAgeSeconds.map(String.init))
        writer.write(text: subject)
        writer.write(text: issuer)
        writer.write(text: context)
        if let connection { writer.write(connection) }
        if case .browser(let browser) = kind {
            writer.write(octets: browser.state.octets)
            writer.write(octets: browser.verifier?.octets)
            writer.write(text: browser.redirectURI)
            // A connection's issuer is the provider's, and handles are short.
            if connection == nil { writer.write(text: browser.issuer) }
            writer.write(number: browser.flags.rawValue)
        }
        let extra = extraFields
        if !extra.isEmpty { writer.write(number: extra.rawValue) }
        if let requested { writer.write(requested) }
        if let proofKey { writer.write(proofKey) }
        return writer.take()
    }

    /// - Returns: `nil` if the octets are not the result of ``encoded`` for this version.
    init?(encoded octets: Span<UInt8>, _ version: HandleVersion) {
        var reader = FieldReader(octets.count)
        do throws(NotEncoded) {
            let provider = try reader.requiredText(octets)
            let audience = try reader.requiredText(octets)
            let nonce = try reader.optional(octets, Nonce.init)
            let (begunAt, expiresAt) = (try reader.number(octets), try reader.number(octets))
            let maximumAge = try reader.text(octets)
            let (subject, issuer, context) = (
                try reader.text(octets), try reader.text(octets), try reader.text(octets)
            )
            let connection =
                version.contains(.connection) ? try reader.connection(octets, audience: audience) : nil
            var kind: Kind
            if version.contains(.browser) {
                kind = .browser(try BrowserSignIn(nonce: nonce, issuer: connection?.issuer, &reader, octets))
            } else {
                guard let nonce else { return nil }
                kind = .native(nonce)
            }
            var proofKey: ProofKey?
            if version.contains(.extraFields) {
                let extra = ExtraFields(rawValue: try reader.number(octets))
                guard !extra.isEmpty, extra.isSubset(of: .all) else { return nil }
                if extra.contains(.requestedChecks) {
                    guard case .browser(var browser) = kind else { return nil }
                    browser.requested = try reader.requestedChecks(octets)
                    kind = .browser(browser)
                }
                if extra.contains(.proofKey) { proofKey = try reader.requiredKey(octets) }
            }
            guard reader.isAtEnd else { return nil }
            self.init(
                provider: provider, audience: audience, begunAt: UnixTime(seconds: begunAt),
                expiresAt: UnixTime(seconds: expiresAt),
                maximumAuthenticationAgeSeconds: maximumAge.flatMap(Int64.init),
                subject: subject, issuer: issuer, connection: connection, context: context, proofKey: proofKey,
                kind: kind)
            // The encoder writes only a number or `nil` here.
            guard (maximumAge == nil) == (maximumAuthenticationAgeSeconds == nil) else { return nil }
        } catch {
            return nil
        }
    }
}

extension BrowserSignIn {
    /// - Parameter issuer: `nil` if it is a field of its own.
    fileprivate init(
        nonce: Nonce?, issuer: String?, _ reader: inout FieldReader, _ octets: Span<UInt8>
    ) throws(NotEncoded) {
        guard let state = try reader.optional(octets, State.init) else { throw NotEncoded() }
        let verifier = try reader.optional(octets, CodeVerifier.init)
        let redirectURI = try reader.requiredText(octets)
        let issuer = if let issuer { issuer } else { try reader.requiredText(octets) }
        let flags = Flags(rawValue: try reader.number(octets))
        guard flags.isSubset(of: .all) else { throw NotEncoded() }
        self.init(
            state: state, nonce: nonce, verifier: verifier, redirectURI: redirectURI, issuer: issuer,
            requiresResponseIssuer: flags.contains(.requiresResponseIssuer),
            profile: flags.contains(.fapi2) ? .fapi2 : nil)
    }

    fileprivate struct Flags: OptionSet {
        let rawValue: Int64

        static let requiresResponseIssuer = Flags(rawValue: 1)
        static let fapi2 = Flags(rawValue: 2)
        static let all: Flags = [.requiresResponseIssuer, .fapi2]
    }

    fileprivate var flags: Flags {
        var flags: Flags = requiresResponseIssuer ? .requiresResponseIssuer : []
        switch profile {
        case .fapi2: flags.insert(.fapi2)
        case nil: break
        }
        return flags
    }
}

/// The fields that only some sign-ins have. They come last, after a number that says which.
private struct ExtraFields: OptionSet {
    let rawValue: Int64

    static let proofKey = ExtraFields(rawValue: 1)
    static let requestedChecks = ExtraFields(rawValue: 2)
    static let all: ExtraFields = [.proofKey, .requestedChecks]
}

/// The first octet of a handle: the version of its format, and of its contents.
///
/// 1 is a native sign-in without anything else, so that older instances can open those while newer instances are rolled
/// out. ``browser`` is a version too, as the only member of its set.
struct HandleVersion: OptionSet {
    let rawValue: UInt8

    static let native: HandleVersion = []
    static let browser = HandleVersion(rawValue: 1)
    static let connection = HandleVersion(rawValue: 2)
    static let extraFields = HandleVersion(rawValue: 4)

    var octet: UInt8 { rawValue + 1 }
}

extension HandleVersion {
    /// - Returns: `nil` if no version has this octet.
    init?(octet: UInt8) {
        guard (1...8).contains(octet) else { return nil }
        self.init(rawValue: octet - 1)
    }
}

extension SignIn {
    var version: HandleVersion {
        var version = HandleVersion.native
        if case .browser = kind { version.insert(.browser) }
        if connection != nil { version.insert(.connection) }
        if !extraFields.isEmpty { version.insert(.extraFields) }
        return version
    }

    private var requested: RequestedChecks? { if case .browser(let browser) = kind { browser.requested } else { nil } }

    private var extraFields: ExtraFields {
        var fields: ExtraFields = []
        if proofKey != nil { fields.insert(.proofKey) }
        if requested != nil { fields.insert(.requestedChecks) }
        return fields
    }
}
