internal import OpenSSL

/// The providers that answer: those with one issuer, and the issuers that something has asked for.
struct EmulatedProviders {
    /// By ID. An entry with many issuers has a provider under its own ID too, which answers nothing: its faults are
    /// those of the issuers that don't exist yet.
    private var all: [String: EmulatedProvider] = [:]
    private(set) var settings: [DevProviderSettings] = []
    private var origin = ""

    init() {}

    /// - Parameter providers: the providers created from `settings`.
    init(_ settings: [DevProviderSettings], _ providers: [EmulatedProvider], origin: String) {
        (self.settings, self.origin) = (settings, origin)
        all = Dictionary(providers.map { ($0.id, $0) }) { first, _ in first }
    }

    subscript(id: String) -> EmulatedProvider? {
        get { all[id] }
        set { all[id] = newValue }
    }

    /// Every provider, also those of ``settings`` that answer nothing.
    var ids: Dictionary<String, EmulatedProvider>.Keys { all.keys }

    /// The IDs of the providers with a fault: those of ``settings``, then issuers.
    func with(_ fault: Fault) -> [String] {
        let entries = settings.map(\.id).filter { all[$0]?.faults.has(fault) == true }
        let issuers = all.values.filter { provider in
            provider.settings.number != nil && provider.faults.has(fault)
                && !entries.contains(where: { provider.id.hasPrefix($0 + "/") })
        }
        return entries + issuers.map(\.id).sorted()
    }

    /// The IDs that a request about a provider is about: for an entry with many issuers, those of its issuers too;
    /// `nil` if there is no such provider.
    ///
    /// - Throws: ``OpenSSLError`` if it is an issuer for which no key can be generated.
    mutating func ids(for id: String) throws -> [String]? {
        guard let entry = settings.first(where: { $0.id == id }) else {
            return try provider(at: id).flatMap { $0.rest == "/" ? [$0.id] : nil }
        }
        return entry.issuers == nil ? [id] : all.keys.filter { $0 == id || $0.hasPrefix(id + "/") }
    }

    /// The provider at the beginning of a path, and the rest of the path; `nil` if there is none. Generates an issuer
    /// that does not exist yet.
    ///
    /// - Throws: ``OpenSSLError`` if no key can be generated.
    mutating func provider(at path: String) throws(OpenSSLError) -> (id: String, rest: String)? {
        let (id, rest) = Self.split(path[...])
        guard let entry = settings.first(where: { $0.id == id }) else { return nil }
        guard let issuers = entry.issuers else { return (id, "/" + rest) }
        let (text, below) = Self.split(rest)
        guard let number = issuers.number(text) else { return nil }
        let settings = entry.issuer(number)
        if all[settings.id] == nil {
            var provider = try EmulatedProvider(settings, origin: origin, key: settings.makeKey())
            if let entry = all[id] { provider.faults = entry.faults }
            all[settings.id] = provider
        }
        return (settings.id, "/" + below)
    }

    /// The first segment of a path, and what follows its slash.
    private static func split(_ path: Substring) -> (String, Substring) {
        let path = path.drop { $0 == "/" }
        let segment = path.prefix { $0 != "/" }
        return (String(segment), path.dropFirst(segment.count + 1))
    }
}
