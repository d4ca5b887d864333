private import Bytes

/// An issuer that differs by tenant: a URL in which the name of a claim, in braces, is replaced by that claim's value,
/// such as `https://login.microsoftonline.com/{tid}/v2.0`.
public struct IssuerTemplate: Sendable, Equatable {
    /// The claim that names the tenant.
    public let claim: ClaimName
    private let prefix: String
    private let suffix: String

    /// In bytes. Longer names are rejected.
    private static let maximumTenantLength = 128

    /// `nil` unless the text has exactly one name in braces. Braces can't occur in a URL, so a plain issuer is never
    /// mistaken for a template.
    public init?(_ text: String) {
        let parts = text.split(separator: "{", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let rest = parts[1].split(separator: "}", omittingEmptySubsequences: false)
        guard rest.count == 2, !rest[0].isEmpty, !parts[0].contains("}") else { return nil }
        claim = ClaimName(String(rest[0]))
        prefix = String(parts[0])
        suffix = String(rest[1])
    }

    /// The template as written.
    public var text: String { prefix + "{" + claim.string + "}" + suffix }

    /// The issuer of one tenant.
    public func issuer(ofTenant tenant: String) -> String { prefix + tenant + suffix }

    /// The tenant of an issuer; `nil` if the issuer does not match this template.
    ///
    /// A tenant's name consists of unreserved URL characters (RFC 3986, section 2.3), so it can't match other parts of
    /// an issuer.
    package func tenant(in issuer: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let (start, end) = (prefix.utf8, suffix.utf8)
        guard issuer.count > start.count + end.count, issuer.starts(with: start),
            issuer.suffix(end.count).elementsEqual(end)
        else { return nil }
        let tenant = issuer.dropFirst(start.count).dropLast(end.count)
        guard tenant.count <= Self.maximumTenantLength, tenant.allSatisfy(\.isUnreserved) else { return nil }
        return tenant
    }

    /// Whether both templates are equal except for the claim in braces.
    func hasSameText(_ other: IssuerTemplate) -> Bool {
        prefix.isExactly(other.prefix) && suffix.isExactly(other.suffix)
    }

    /// Whether an issuer could match both templates. May return false positives.
    func mayOverlap(_ other: IssuerTemplate) -> Bool {
        let (prefixes, suffixes) = ((prefix, other.prefix), (suffix, other.suffix))
        return (prefixes.0.hasPrefix(prefixes.1) || prefixes.1.hasPrefix(prefixes.0))
            && (suffixes.0.hasSuffix(suffixes.1) || suffixes.1.hasSuffix(suffixes.0))
    }
}

/// The tenants whose tokens are accepted if the issuer is a template.
public enum TenantRule: Sendable, Equatable {
    case any(except: [String])
    case only([String])

    /// Names are compared byte for byte.
    package func allows(_ tenant: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .any(let exceptions): !exceptions.contains { $0.isExactly(tenant.span) }
        case .only(let tenants): tenants.contains { $0.isExactly(tenant.span) }
        }
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isLetterOrDigit
        }
    }
}
