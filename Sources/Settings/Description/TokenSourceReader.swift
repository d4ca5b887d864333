private import Bytes
internal import Gateway

/// Reads a policy's `token`.
enum TokenSourceReader {
    private static let header = Setting("header", fieldName, "A header's name.")
    private static let scheme = Setting(
        "scheme", fieldName, "The word before the token in the header, such as `Bearer`.")
    private static let cookie = Setting("cookie", fieldName, "A cookie's name, byte for byte.")

    static let setting = SettingDescription(
        name: "token", expected: "a list of mappings",
        form: .list(
            of: .section([header.description, scheme.description, cookie.description]), isNeverEmpty: true),
        help:
            "Where to look for the token. The first source that the request has is used, even if its token is refused. With a cookie, the backend must defend itself against CSRF.",
        defaultDescription: "`[{ header: Authorization, scheme: Bearer }]`")

    /// - Returns: `nil` if there is no list, or an error was reported.
    static func read(_ element: Section) -> [TokenSource]? {
        let sources = element.mappings(setting.name, expected: "a mapping with header or cookie", read: source)
        if sources?.isEmpty == true { element.refuse(setting.name, "token must have at least one header or cookie") }
        return sources
    }

    private static func source(_ element: Section) -> TokenSource? {
        let (header, scheme, cookie) = (header.read(element), scheme.read(element), cookie.read(element))
        defer { element.finish() }
        switch (header, cookie) {
        case (let header?, nil): return .header(header, scheme: scheme)
        case (nil, let cookie?) where scheme == nil: return .cookie(cookie)
        default:
            element.refuse(nil, "each element of token must have either header, with or without scheme, or cookie")
            return nil
        }
    }

    private static let fieldName = ValueType<String>.text(
        "1 to 128 letters, digits and the characters !#$%&'*+-.^_`|~"
    ) { (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isTokenCharacter) }
}
