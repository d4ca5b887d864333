/// The environment variables that override settings: `ASSAY_` and the path of the setting in capitals.
final class EnvironmentVariables {
    let all: [String: String]
    /// The variables of settings that were asked for.
    private var settings: Set<String> = []
    /// The variables that a mapping or a list of mappings would have.
    private var mappings: Set<String> = []
    /// What the variables of sections begin with that were not read, because of a fault.
    private var unreadPrefixes: [String] = []

    /// The one that is no setting: where the file is.
    private static let others: Set<String> = ["ASSAY_CONFIG"]

    init(_ environment: [String: String]) { all = environment }

    /// `["providers", "oidc.example", "clock_skew"]` becomes `ASSAY_PROVIDERS_OIDC_EXAMPLE_CLOCK_SKEW`.
    static func name(_ path: [String]) -> String {
        (["assay"] + path).map(part).joined(separator: "_")
    }

    static func part(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? Character($0.uppercased()) : "_" })
    }

    /// The text of a setting's variable, if it is set.
    func value(_ path: [String]) -> (variable: String, text: String)? {
        let name = Self.name(path)
        settings.insert(name)
        return all[name].map { (name, $0) }
    }

    /// Notes a setting that no variable can set as a whole.
    func noteMapping(_ path: [String]) { mappings.insert(Self.name(path)) }

    /// Notes a section that was not read: nothing is known about its variables.
    func noteUnread(_ path: [String]) { unreadPrefixes.append(Self.name(path) + "_") }

    /// The variables of Kubernetes' service links, sorted by name.
    var serviceLinks: [String] {
        all.keys.filter { !settings.contains($0) && ServiceLink.isName($0) }.sorted()
    }

    static func refusal(ofMapping name: String, _ advice: String = "use the file") -> String {
        "\(name) can't be set by a variable, because it is a mapping: \(advice)"
    }

    /// A message for each variable under `ASSAY_` that names no setting. Values are never part of it.
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
            let nearest = Suggestion.nearest(to: name, among: settings.sorted())
            return "\(name) is not a setting" + (nearest.map { "; did you mean \($0)?" } ?? "")
        }
    }
}

/// The variables that Kubernetes sets in a pod for each Service, here for one named `assay`.
///
/// See *Kubernetes: Service, Discovering services, Environment variables*; `enableServiceLinks: false` turns them off.
enum ServiceLink {
    /// Whether a variable is named like one: `ASSAY_SERVICE_HOST`, `ASSAY_SERVICE_PORT`, `ASSAY_SERVICE_PORT_<name>`,
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
