private import Bytes
internal import Grants

/// Reads a client's `authorization_parameters`.
enum AuthorizationParameterReader {
    static let setting = SettingDescription(
        name: "authorization_parameters", expected: "a mapping of names to strings",
        form: .mapping(of: .either(.text(), .boolean)),
        help:
            "Additional parameters of the authorization URL, such as `{ access_type: offline }` for Google's refresh tokens. Parameters that Assay sets itself are refused.",
        defaultDescription: "none")

    /// - Returns: in the order of the settings.
    static func read(_ element: Section) -> [AuthorizationParameter] {
        element.namedTexts(setting.name).compactMap { name, values in
            guard !AuthorizationParameter.reserved.contains(name) else {
                element.refuse(setting.name, "\(name) is set by Assay or by the request; remove it")
                return nil
            }
            guard values.count == 1, !name.isEmpty, name.utf8.allSatisfy(\.isVisibleASCII) else {
                element.refuse(setting.name, "\(name) must be a parameter's name, with one value")
                return nil
            }
            return AuthorizationParameter(name: name, value: values[0])
        }
    }
}
