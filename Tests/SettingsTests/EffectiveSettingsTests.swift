import IDToken
@testable import Settings
import Testing

@Suite struct EffectiveSettingsTests {
    private static let yaml = """
        service: { listen: "127.0.0.1:8081" }
        api_keys: [\(String(repeating: "0f", count: 32))]
        tracing: { otlp_endpoint: "http://127.0.0.1:4318" }
        providers:
          - id: google
            preset: google
            audiences: [one, "two words"]
            required_claims: [email]
          - { id: other.one, issuer: "https://a.example", audiences: [a] }

        """

    private func shown(_ yaml: String, _ environment: [String: String] = [:]) throws -> String {
        try Settings.read(yaml: yaml, environment: environment).effective.yaml()
    }

    /// A setting's line, with white space collapsed.
    private func line(_ start: String, of shown: String) throws -> String {
        let line = try #require(shown.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix(start) })
        return line.split(separator: " ").joined(separator: " ")
    }

    @Test func `each setting is shown with where it comes from`() throws {
        let shown = try shown(
            Self.yaml, ["ASSAY_LIMITS_MAX_BODY": "2KiB", "ASSAY_PROVIDERS_OTHER_ONE_CLOCK_SKEW": "5s"])
        #expect(try line("listen:", of: shown) == "listen: \"127.0.0.1:8081\" # line 1")
        #expect(try line("max_body:", of: shown) == "max_body: 2KiB # ASSAY_LIMITS_MAX_BODY")
        #expect(try line("max_batch_body:", of: shown) == "max_batch_body: 4MiB # default")
        #expect(try line("issuer:", of: shown) == "issuer: \"https://accounts.google.com\" # preset google")
        #expect(try line("audiences:", of: shown) == "audiences: [one, \"two words\"] # line 7")
        #expect(try line("clock_skew: 5s", of: shown) == "clock_skew: 5s # ASSAY_PROVIDERS_OTHER_ONE_CLOCK_SKEW")
        #expect(shown.contains("# cache_directory: not set"))
    }

    @Test func `a setting that another one implies names that one's line`() throws {
        func required(_ nonce: String) throws -> String {
            let provider = "providers:\n  - id: a\n    preset: apple\n    audiences: [a]\n"
            return try line("required:", of: shown(provider + "    nonce:\n      " + nonce))
        }
        #expect(try required("single_use: true") == "required: true # line 6")
        #expect(try required("single_use: true\n      required: true") == "required: true # line 7")
        #expect(try required("single_use: false") == "required: false # default")
    }

    @Test func `what is shown has the same settings in effect`() throws {
        for preset in ProviderPreset.all.map(\.name) + ["none"] {
            let extra = "{ id: p, issuer: \"https://b.example\", audiences: [b], algorithms: [ES256], jwks_file: /k }"
            let named = "{ id: n, preset: \(preset), audiences: [a] }"
            let text = Self.yaml + "  - \(extra)\n" + "  - \(named)\n"
            // Presets with parameters need arguments; those without are enough here.
            guard let first = try? shown(text) else { continue }
            let values = try Settings.read(yaml: text).effective.all
            let again = try Settings.read(yaml: first).effective
            for value in values where value.value != nil {
                #expect(again[value.path]?.value == value.value, "\(value.path)")
            }
        }
    }
}
