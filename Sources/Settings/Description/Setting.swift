/// The single definition of a setting: its name, type and purpose.
struct Setting<Value: Sendable>: Sendable {
    let description: SettingDescription
    /// Reads it from its section; `nil` if it is not set, or if an error was reported.
    let read: @Sendable (Section) -> Value?
    /// The value as written in the file; `nil` if it counts as not set.
    let shown: @Sendable (Value) -> EffectiveSettings.Value?

    var name: String { description.name }

    /// A scalar.
    ///
    /// - Parameters:
    ///   - defaultDescription: the default in words, if no value expresses it.
    ///   - help: a sentence for the reference: what the setting does, with the unit.
    init(
        _ name: String, _ type: ValueType<Value>, defaultDescription: String? = nil, isRequired: Bool = false,
        change: SettingDescription.Change = .reload, _ help: String
    ) {
        description = SettingDescription(
            name: name, expected: type.file == nil ? type.expected : "a file", form: type.form, help: help,
            defaultDescription: defaultDescription,
            isRequired: isRequired, change: change)
        read = { $0.scalar(name, type) }
        shown = { value in
            let text = type.text(value)
            return text.isEmpty ? nil : .scalar(text)
        }
    }

    /// A list.
    ///
    /// - Parameters:
    ///   - refusesEmpty: the error text for an empty list, which follows the name; `nil` if it may be empty.
    ///   - word: a word that may replace the list. The reader must check for it.
    init<Element>(
        _ name: String, listOf type: ValueType<Element>, refusesEmpty: String? = nil, orWord word: String? = nil,
        defaultDescription: String? = nil, change: SettingDescription.Change = .reload, _ help: String
    ) where Value == [Element] {
        let form = ValueForm.list(of: type.form, isNeverEmpty: refusesEmpty != nil)
        description = SettingDescription(
            name: name,
            expected: "a list; each element: \(type.file == nil ? type.expected : "a file")"
                + (word.map { ". Or `\($0)`" } ?? ""),
            form: word.map { .either(form, .words([$0])) } ?? form, help: help, defaultDescription: defaultDescription,
            change: change)
        read = { section in
            let list = section.list(name, type)
            if let refusesEmpty, list?.isEmpty == true { section.refuse(name, "\(name) \(refusesEmpty)") }
            return list
        }
        shown = { $0.isEmpty ? nil : .list($0.map(type.text)) }
    }

    /// A setting whose type no ``ValueType`` describes.
    init(
        _ description: SettingDescription, read: @escaping @Sendable (Section) -> Value?,
        shown: @escaping @Sendable (Value) -> EffectiveSettings.Value?
    ) {
        self.description = description
        self.read = read
        self.shown = shown
    }
}
