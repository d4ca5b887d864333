/// What people and editors need to know of a setting or a section, whatever its values.
///
/// The JSON Schema and the reference page are made from it; so are the names of environment variables, from its path.
struct SettingDescription: Sendable {
    let name: String
    /// What a value must be, in the words that follow "must be"; errors say the same.
    let expected: String
    let form: ValueForm
    let help: String
    /// The default in words, where no value says it.
    var defaultDescription: String?
    var isRequired = false
    var change = Change.reload

    /// When a changed value takes effect.
    enum Change: String, Sendable { case reload, restart }
}

extension SettingDescription {
    /// A mapping with settings of its own.
    init(section name: String, change: Change = .reload, _ members: [SettingDescription], _ help: String) {
        self.init(name: name, expected: "a mapping", form: .section(members), help: help, change: change)
    }
}

/// The form of a value in YAML.
indirect enum ValueForm: Sendable {
    case text(pattern: String? = nil)
    case boolean
    case words([String])
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// Digits and a unit.
    case quantity(units: [String])
    case list(of: ValueForm, isNeverEmpty: Bool = false)
    case either(ValueForm, ValueForm)
    case section([SettingDescription])
    /// A mapping whose names are the operator's.
    case mapping(of: ValueForm)
}
