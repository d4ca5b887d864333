private import Bytes

/// The environment variables that override settings: `ASSAY_` and the setting's path in capitals.
final class EnvironmentVariables {
    let all: [String: String]
    /// Whether any variable may be a setting's. If none is, no names are made: there may be thousands of providers.
    private let haveSettings: Bool
    /// The variables of settings that were read.
    private var settings: Set<String> = []
    /// The variables that mappings or lists of mappings would have.
    private var mappings: Set<String> = []
    /// The prefixes of the variables of sections that were not read because of an error.
    private var unreadPrefixes: [String] = []

    private static let prefix = "ASSAY_"
    /// The only variable that is not a setting: the path of the file.
    private static let others: Set<String> = ["ASSAY_CONFIG"]

    init(_ environment: [String: String]) {
        all = environment
        haveSettings = environment.keys.contains { $0.hasPrefix(Self.prefix) && !Self.others.contains($0) }
    }

    /// `["providers", "oidc.example", "clock_skew"]` becomes `ASSAY_PROVIDERS_OIDC_EXAMPLE_CLOCK_SKEW`.
    static func name(_ path: [String]) -> String {
        (["assay"] + path).map(part).joined(separator: "_")
    }

    /// The capitals of a text. Each character that is not an ASCII letter or digit becomes `_`.
    static func part(_ text: String) -> String {
        func capital(_ octet: UInt8) -> UInt8 {
            guard octet.isLetterOrDigit else { return UInt8(ascii: "_") }
            return octet.isLetter ? octet & ~0x20 : octet
        }
        // By bytes if each is a character: names are made for each setting of thousands of providers.
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) {
            return String(decoding: text.utf8.map(capital), as: UTF8.self)
        }
        return String(text.map { Character(UnicodeScalar($0.asciiValue.map(capital) ?? UInt8(ascii: "_"))) })
    }

    /// The value of a setting's variable, if it is set.
    func value(_ path: @autoclosure () -> [String]) -> (variable: String, text: String)? {
        guard haveSettings else { return nil }
        let name = Self.name(path())
        settings.insert(name)
        return all[name].map { (name, $0) }
    }

    /// Registers a setting that can't be set as a whole by a variable.
    func noteMapping(_ path: [String]) { if haveSettings { mappings.insert(Self.name(path)) } }

    /// Registers a section that was not read: its variables are unknown.
    func noteUnread(_ path: [String]) { unreadPrefixes.append(Self.name(path) + "_") }

    /// Variables that Kubernetes sets for Services, sorted by name.
    var serviceLinks: [String] {
        all.filter { !settings.contains($0.key) && ServiceLink.is($0.key, $0.value) }.map(\.key).sorted()
    }

    static func refusal(ofMapping name: String, _ advice: String = "use the file") -> String {
        "\(name) is a mapping and can't be set by one variable; \(advice)"
    }

    /// An error message for each `ASSAY_` variable that matches no setting. Messages never contain values.
    func unknown() -> [String] {
        let names = all.filter { name, value in
            name.hasPrefix(Self.prefix) && !settings.contains(name) && !Self.others.contains(name)
                && !ServiceLink.is(name, value) && !unreadPrefixes.contains(where: name.hasPrefix)
        }
        return names.keys.sorted().map { name in
            if mappings.contains(name) {
                let members = settings.filter { $0.hasPrefix(name + "_") }.sorted()
                let example = members.first.map { ", such as \($0)" } ?? ""
                return Self.refusal(ofMapping: name, "set its members\(example), or use the file")
            }
            // Compare without the common prefix, which would make any two names look alike.
            let nearest = Suggestion.nearest(
                to: String(name.dropFirst(Self.prefix.count)),
                among: settings.sorted().map { $0.dropFirst(Self.prefix.count) }.map(String.init))
            return "\(name) is not a setting" + (nearest.map { "; did you mean \(Self.prefix)\($0)?" } ?? "")
        }
    }
}

/// The variables that Kubernetes sets in a pod for each Service of its namespace; here, for those whose names begin with
/// `assay`.
///
/// See *Kubernetes: Service, Discovering services, Environment variables*. `enableServiceLinks: false` disables them.
enum ServiceLink {
    /// Whether a variable has such a name and such a value, where `<service>` begins with `ASSAY`:
    ///
    /// - `<service>_SERVICE_HOST`: an address; `<service>_SERVICE_PORT` and `<service>_SERVICE_PORT_<name>`: a port.
    /// - `<service>_PORT` and `<service>_PORT_<number>_<protocol>`: a URL such as `tcp://10.0.0.1:80`. The latter also
    ///   with `_PROTO`, `_PORT` and `_ADDR`.
    static func `is`(_ name: String, _ value: String) -> Bool {
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.first == "ASSAY" else { return false }
        return (1..<parts.endIndex).contains { isMember(Array(parts[$0...]), value) }
    }

    /// - Parameter parts: of the name, after the Service's.
    private static func isMember(_ parts: [Substring], _ value: String) -> Bool {
        switch (parts.count, parts[0]) {
        case (2, "SERVICE") where parts[1] == "HOST": isAddress(value)
        case (2..., "SERVICE") where parts[1] == "PORT": UInt16(value) != nil
        case (1, "PORT"): isURL(value)
        case (3, "PORT"): isPort(parts) && isURL(value)
        case (4, "PORT"):
            isPort(parts)
                && (parts[3] == "PROTO" && value == parts[2].lowercased() || parts[3] == "PORT" && value == parts[1]
                    || parts[3] == "ADDR" && isAddress(value))
        default: false
        }
    }

    private static let transports = ["tcp", "udp", "sctp"]

    private static func isPort(_ parts: [Substring]) -> Bool {
        UInt16(parts[1]) != nil && transports.contains { $0.uppercased() == parts[2] }
    }

    private static func isURL(_ value: String) -> Bool { transports.contains { value.hasPrefix("\($0)://") } }

    private static func isAddress(_ value: String) -> Bool {
        (value.contains(".") || value.contains(":"))
            && value.utf8.allSatisfy { $0.isLowercaseHexadecimal || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
    }
}

/// A reference to an environment variable, `${NAME}`, which other programs replace by its value when they read a file.
/// Settings are read as they are written, so a reference is a mistake.
enum VariableReference {
    /// Why a text is refused; `nil`: it has no reference.
    static func refusal(of text: some StringProtocol) -> String? {
        guard let reference = first(in: text) else { return nil }
        return
            "\(reference) is not expanded in this file: write the value itself, or leave the setting out and set it by its own environment variable, such as ASSAY_SERVICE_LISTEN for service.listen"
    }

    /// The first reference, as far as its name goes.
    private static func first(in text: some StringProtocol) -> String? {
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            rest = rest[start.upperBound...]
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            guard let first = name.first, !first.isNumber else { continue }
            return "${\(name)}"
        }
        return nil
    }
}

extension YAMLNode {
    /// Each line of the node that has a reference to an environment variable, with why it is refused.
    var variableReferences: [(line: Int, refusal: String)] {
        switch content {
        case .scalar(let scalar): VariableReference.refusal(of: scalar.string).map { [(line, $0)] } ?? []
        case .sequence(let elements): elements.flatMap(\.variableReferences)
        case .mapping(let members): members.flatMap(\.value.variableReferences)
        }
    }
}
