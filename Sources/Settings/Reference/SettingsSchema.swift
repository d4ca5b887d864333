/// The JSON Schema (draft 2020-12) of the settings file, for completion and validation in editors.
///
/// It is stricter than the reader in one respect: booleans and numbers must not be quoted.
package enum SettingsSchema {
    package static func json() -> String {
        let usual = DefaultSettings()
        let head: [(name: String, value: JSONText)] = [
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Settings of Assay (assay.yaml)")),
        ]
        guard case .object(let members) = section(Settings.members.flatMap(\.descriptions), [], usual) else {
            return ""
        }
        return JSONText.object(head + members).text() + "\n"
    }

    private static func section(
        _ members: [SettingDescription], _ path: [String], _ usual: DefaultSettings
    ) -> JSONText {
        let required = members.filter(\.isRequired).map { JSONText.string($0.name) }
        return .object(
            [
                ("type", .string("object")), ("additionalProperties", .literal("false")),
                ("properties", .object(members.map { ($0.name, property($0, path + [$0.name], usual)) })),
            ] + (required.isEmpty ? [] : [("required", .array(required))]))
    }

    private static func property(
        _ setting: SettingDescription, _ path: [String], _ usual: DefaultSettings
    ) -> JSONText {
        guard case .object(let form) = schema(setting.form, path, usual) else { return .literal("true") }
        let value = usual.value(path).map { [("default", json($0, setting.form))] } ?? []
        // Links are relative to the reference page, so an editor can't follow them.
        let help = setting.help.replacing(/\[([^\]]+)\]\([^)]+\)/) { $0.1 }
        return .object([("description", .string(help))] + form + value)
    }

    private static func schema(_ form: ValueForm, _ path: [String], _ usual: DefaultSettings) -> JSONText {
        switch form {
        // A string setting, such as a client ID, may look like a number to YAML.
        case .text(nil): .object([("type", .array([.string("string"), .string("number")]))])
        case .text(let pattern?):
            .object([("type", .array([.string("string"), .string("number")])), ("pattern", .string(pattern))])
        case .boolean: .object([("type", .string("boolean"))])
        case .words(let words): .object([("enum", .array(words.map { json(.scalar($0), form) }))])
        case .integer(let range):
            .object([
                ("type", .string("integer")), ("minimum", .literal("\(range.lowerBound)")),
                ("maximum", .literal("\(range.upperBound)")),
            ])
        case .number(let range):
            .object([
                ("type", .string("number")), ("minimum", .literal("\(range.lowerBound)")),
                ("maximum", .literal("\(range.upperBound)")),
            ])
        case .quantity(let units):
            .object([
                ("type", .string("string")), ("pattern", .string("^[0-9]+(\(units.joined(separator: "|")))$")),
            ])
        case .list(let element, let isNeverEmpty):
            .object(
                [("type", .string("array")), ("items", schema(element, path, usual))]
                    + (isNeverEmpty ? [("minItems", .literal("1"))] : []))
        case .either(let one, let other):
            .object([("anyOf", .array([schema(one, path, usual), schema(other, path, usual)]))])
        case .section(let members): section(members, path, usual)
        case .mapping(let value):
            .object([("type", .string("object")), ("additionalProperties", schema(value, path, usual))])
        }
    }

    private static func json(_ value: EffectiveSettings.Value, _ form: ValueForm) -> JSONText {
        switch (value, form) {
        case (.scalar(let text), .integer), (.scalar(let text), .number), (.scalar(let text), .boolean): .literal(text)
        case (.scalar(let text), .words) where ["true", "false"].contains(text): .literal(text)
        case (.scalar(let text), _): .string(text)
        case (.list(let texts), _), (.flow(let texts), _): .array(texts.map { .string($0) })
        }
    }
}
