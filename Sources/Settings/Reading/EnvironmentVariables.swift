/// The environment variables that override settings: `ASSAY_` and the setting's path in capitals.
final class EnvironmentVariables {
    let all: [String: String]
    /// The variables of settings that were read.
    private var settings: Set<String> = []
    /// The variables that mappings or lists of mappings would have.
    private var mappings: Set<String> = []
    /// The prefixes of the variables of sections that were not read because of an error.
    private var unreadPrefixes: [String] = []

    /// The only variable that is not a setting: the path of the file.
    private static let others: Set<String> = ["ASSAY_CONFIG"]

    init(_ environment: [String: String]) { all = environment }

    /// `["providers", "oidc.example", "clock_skew"]` becomes `ASSAY_PROVIDERS_OIDC_EXAMPLE_CLOCK_SKEW`.
    static func name(_ path: [String]) -> String {
        (["assay"] + path).map(part).joined(separator: "_")
    }

    static func part(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? Character($0.uppercased()) : "_" })
    }

    /// The value of a setting's variable, if it is set.
    func value(_ path: [String]) -> (variable: String, text: String)? {
        let name = Self.name(path)
        settings.insert(name)
        return all[name].map { (name, $0) }
    }

    /// Registers a setting that can't be set as a whole by a variable.
    func noteMapping(_ path: [String]) { mappings.insert(Self.name(path)) }

    /// Registers a section that was not read: its variables are unknown.
    func noteUnread(_ path: [String]) { unreadPrefixes.append(Self.name(path) + "_") }

    /// Variables that Kubernetes sets for Services, sorted by name.
    var serviceLinks: [String] {
        all.keys.filter { !settings.contains($0) && ServiceLink.isName($0) }.sorted()
    }

    static func refusal(ofMapping name: String, _ advice: String = "use the file") -> String {
        "\(name) is a mapping and can't be set by one variable; \(advice)"
    }

    /// An error message for each `ASSAY_` variable that matches no setting. Messages never contain values.
    func unknown() -> [String] {
        let names = all.keys.filter { name in
            name.hasPrefix("ASSAY_") && !settings.contains(name) && !Self.others.contains(name)
                && !ServiceLink.isName(name) && !unreadPrefixes.contains(where: name.hasPrefix)
        }
        return names.sorted().map { name in
            if mappings.contains(name) {
                let members = settings.filter { $0.hasPrefix(name + "_") }.sorted()
                let example = members.first.map { ", such as \($0)" } ?? ""
                return Self.refusal(ofMapping: name, "set its members\(example), or use the file")
            }
            // Compare without the common prefix, which would make any two names look alike.
            let prefix = "ASSAY_"
            let nearest = Suggestion.nearest(
                to: String(name.dropFirst(prefix.count)),
                among: settings.sorted().map { $0.dropFirst(prefix.count) }.map(String.init))
            return "\(name) is not a setting" + (nearest.map { "; did you mean \(prefix)\($0)?" } ?? "")
        }
    }
}

/// The variables that Kubernetes sets in a pod for each Service; here, for one named `assay`.
///
/// See *Kubernetes: Service, Discovering services, Environment variables*. `enableServiceLinks: false` disables them.
enum ServiceLink {
    /// Whether a variable has such a name: `ASSAY_SERVICE_HOST`, `ASSAY_SERVICE_PORT`, `ASSAY_SERVICE_PORT_<name>`,
    /// `ASSAY_PORT`, `ASSAY_PORT_<number>_<protocol>` and its `_PROTO`, `_PORT` and `_ADDR`.
    static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "ASSAY" else { return false }
        let rest = parts.dropFirst()
        if rest.starts(with: ["SERVICE", "HOST"]) { return rest.count == 2 }
        if rest.starts(with: ["SERVICE", "PORT"]) { return true }
        guard rest.first == "PORT" else { return false }
        let port = Array(rest.dropFirst())
        switch port.count {
        case 0: return true
        case 2: return isPort(port[0], port[1])
        case 3: return isPort(port[0], port[1]) && ["PROTO", "PORT", "ADDR"].contains(port[2])
        default: return false
        }
    }

    private static func isPort(_ number: Substring, _ transport: Substring) -> Bool {
        UInt16(number) != nil && ["TCP", "UDP", "SCTP"].contains(transport)
    }
}
