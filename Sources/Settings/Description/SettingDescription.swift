/// Describes a setting or a section for people and editors.
///
/// Used for the JSON Schema and the reference page. The path determines the environment variable.
struct SettingDescription: Sendable {
    let name: String
    /// What a value must be. Completes "must be …", also in errors.
    let expected: String
    let form: ValueForm
    let help: String
    /// The default in words, if no value expresses it.
    var defaultDescription: String?
    var isRequired = false
    var change = Change.reload

    /// When a changed value takes effect.
    enum Change: String, Sendable { case reload, restart }
}

extension SettingDescription {
    /// A section: a mapping with settings of its own.
    init(section name: String, change: Change = .reload, _ members: [SettingDescription], _ help: String) {
        self.init(name: name, expected: "a mapping", form: .section(members), help: help, change: change)
    }
}

/// The type of a value in YAML.
indirect enum ValueForm: Sendable {
    case text(pattern: String? = nil)
    case boolean
    case words([String])
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// A number with a unit.
    case quantity(units: [String])
    case list(of: ValueForm, isNeverEmpty: Bool = false)
    case either(ValueForm, ValueForm)
    case section([SettingDescription])
    /// A mapping whose keys the operator chooses.
    case mapping(of: ValueForm)
}
