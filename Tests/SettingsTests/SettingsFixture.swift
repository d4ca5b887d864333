import Settings
import Testing

/// A minimal provider for tests of other settings.
let provider = """
    providers:
      - id: apple
        preset: apple
        audiences: [com.example.app]

    """

func settings(_ yaml: String, _ environment: [String: String] = [:]) throws -> Settings {
    try Settings(yaml: yaml, environment: environment)
}

/// The settings of a provider; `text` is indented like the members of a list element.
func read(provider text: String, _ environment: [String: String] = [:]) throws -> ProviderSettings {
    try #require(settings("providers:\n  - id: p\n" + indented(text), environment).providers.first)
}

func indented(_ text: String) -> String {
    text.split(separator: "\n").map { "    " + $0 + "\n" }.joined()
}

/// The only error in some settings; fails if there is none, or more than one.
func fault(
    _ yaml: String, _ environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) throws -> SettingsFault {
    let faults = try faults(yaml, environment, sourceLocation: sourceLocation)
    #expect(faults.count == 1, "\(faults)", sourceLocation: sourceLocation)
    return try #require(faults.first, sourceLocation: sourceLocation)
}

/// All errors in some settings, in the order in which they are reported.
func faults(
    _ yaml: String, _ environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) throws -> [SettingsFault] {
    try #require(
        #expect(throws: SettingsError.self, sourceLocation: sourceLocation) { try settings(yaml, environment) },
        sourceLocation: sourceLocation
    ).faults
}
