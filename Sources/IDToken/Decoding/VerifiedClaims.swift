private import JOSE

/// The verified claims of an ID Token or an access token, which can be decoded as types of your own.
public protocol DecodableClaims {
    /// The verified payload as JSON text, byte for byte.
    var claimsText: ArraySlice<UInt8> { get }
}

extension VerifiedIDToken: DecodableClaims {}
extension VerifiedAccessToken: DecodableClaims {}

extension DecodableClaims {
    /// Decodes the verified claims as a type of your own.
    ///
    /// As strict as the verifier: names compare byte for byte, and a value of another JSON type is an error, never
    /// converted. A time is a ``UnixTime``. Read standard claims from the identity and the token's other members instead:
    /// they follow the provider's policy.
    ///
    /// ```swift
    /// struct Employee: Decodable {
    ///     let department: String
    ///     let roles: [String]
    /// }
    /// let employee = try verified.claims(as: Employee.self)
    /// ```
    ///
    /// - Throws: `DecodingError`, which names the claim and contains none of its value.
    public func claims<Value: Decodable>(as type: Value.Type = Value.self) throws(DecodingError) -> Value {
        try decoded(claimsText)
    }

    /// Decodes one verified claim; `nil` if it is absent or `null`. As strict as ``claims(as:)``.
    ///
    /// - Throws: `DecodingError`, which names the claim and contains none of its value.
    public func claim<Value: Decodable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(DecodingError) -> Value? {
        try withDecodingErrors {
            guard let value = try object(claimsText)[JSONName(name)], value.kind != .null else { return nil }
            return try ClaimsDecoder(source: .value(value), codingPath: [ClaimKey(name)]).decode(Value.self)
        }
    }
}

extension NotifiedEvent {
    /// Decodes ``data`` as a type of your own; see ``DecodableClaims/claims(as:)``.
    ///
    /// - Throws: `DecodingError`, which names the member and contains none of its value.
    public func data<Value: Decodable>(as type: Value.Type = Value.self) throws(DecodingError) -> Value {
        try decoded(data[...])
    }
}

private func decoded<Value: Decodable>(_ text: ArraySlice<UInt8>) throws(DecodingError) -> Value {
    try withDecodingErrors { try Value(from: ClaimsDecoder(source: .object(try object(text)), codingPath: [])) }
}

private func object(_ text: ArraySlice<UInt8>) throws(DecodingError) -> JSONObject {
    // Unreachable: the verifier has read the same text.
    guard let object = try? JSONObject(text) else {
        throw .dataCorrupted(.init(codingPath: [], debugDescription: "The claims are not one JSON object."))
    }
    return object
}

/// Turns every error of a `Decodable` type into a `DecodingError`.
private func withDecodingErrors<Value>(_ body: () throws -> Value) throws(DecodingError) -> Value {
    do {
        return try body()
    } catch let error as DecodingError {
        throw error
    } catch {
        throw .dataCorrupted(
            .init(codingPath: [], debugDescription: "The type refuses the claims.", underlyingError: error))
    }
}

/// Standard claims that describe the user and are not in ``Identity``. Each is `nil` if it is absent or `null`.
///
/// ```swift
/// let profile = try verified.claims(as: ProfileClaims.self)
/// ```
///
/// - Source: OpenID Connect Core 1.0, 5.1.
public struct ProfileClaims: Sendable, Equatable, Decodable {
    public let middleName: String?
    public let nickname: String?
    /// The URL of the user's profile page.
    public let profile: String?
    /// The URL of the user's own page.
    public let website: String?
    public let gender: String?
    /// `YYYY-MM-DD`, or `YYYY`; the year `0000` means that it is left out.
    public let birthdate: String?
    /// A name of the IANA time zone database.
    public let timeZone: String?
    /// Recommended to be in the form of E.164, such as `+1 (425) 555-1212`.
    public let phoneNumber: String?
    public let isPhoneNumberVerified: Bool?
    public let address: Address?
    public let updatedAt: UnixTime?

    /// - Source: OpenID Connect Core 1.0, 5.1.1.
    public struct Address: Sendable, Equatable, Decodable {
        /// The whole address, with line breaks.
        public let formatted: String?
        public let streetAddress: String?
        /// City or locality.
        public let locality: String?
        /// State, province or region.
        public let region: String?
        public let postalCode: String?
        public let country: String?

        private enum CodingKeys: String, CodingKey {
            case formatted, locality, region, country
            case streetAddress = "street_address"
            case postalCode = "postal_code"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case nickname, profile, website, gender, birthdate, address
        case middleName = "middle_name"
        case timeZone = "zoneinfo"
        case phoneNumber = "phone_number"
        case isPhoneNumberVerified = "phone_number_verified"
        case updatedAt = "updated_at"
    }
}

extension UnixTime: Decodable {
    /// Reads a NumericDate (RFC 7519, section 2): any JSON number, including fractions, which are rounded down.
    ///
    /// - Throws: `DecodingError` for anything but a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let seconds = try? container.decode(Int64.self) {
            self.init(claimedSeconds: seconds)
        } else if let time = UnixTime(fractional: try container.decode(Double.self)) {
            self = time
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is not a time.")
        }
    }
}
