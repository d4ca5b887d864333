import Settings
import Testing

/// The one provider that settings about other things need too.
let provider = """
    providers:
      - id: apple
        preset: apple
        audiences: [com.example.app]

    """

func settings(_ yaml: String, _ environment: [String: String] = [:]) throws -> Settings {
    try Settings(yaml: yaml, environment: environment)
}

/// The settings of the one provider in `text`, which is indented as the members of a list's element.
func read(provider text: String, _ environment: [String: String] = [:]) throws -> ProviderSettings {
    try #require(settings("providers:\n  - id: p\n" + indented(text), environment).providers.first)
}

func indented(_ text: String) -> String {
    text.split(separator: "\n").map { "    " + $0 + "\n" }.joined()
}

/// What is wrong with some settings; fails where nothing is, or more than one thing.
func fault(
    _ yaml: String, _ environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) throws -> SettingsFault {
    let faults = try faults(yaml, environment, sourceLocation: sourceLocation)
    #expect(faults.count == 1, "\(faults)", sourceLocation: sourceLocation)
    return try #require(faults.first, sourceLocation: sourceLocation)
}

/// Everything that is wrong with some settings, in the order in which it is reported.
func faults(
    _ yaml: String, _ environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) throws -> [SettingsFault] {
    try #require(
        #expect(throws: SettingsError.self, sourceLocation: sourceLocation) { try settings(yaml, environment) },
        sourceLocation: sourceLocation
    ).faults
}
