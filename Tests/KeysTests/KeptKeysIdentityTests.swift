@testable import Keys
import Testing

/// Archived keys are loaded only if the settings would still fetch and trust the same keys.
@Suite struct KeptKeysIdentityTests {
    private typealias Location = KeyLocation.Network

    @Test func `each place has an identity of its own`() {
        let address = "https://a.example/keys"
        let places: [Location] = [
            .jwkSet(address: address), .certificates(address: address), .jwkSet(address: address + "2"),
            .discovery(address: address, issuer: "https://a.example", readsAlgorithms: true),
            .discovery(address: address, issuer: "https://a.example", readsAlgorithms: false),
            .discovery(address: address, issuer: "https://b.example", readsAlgorithms: true),
        ]
        #expect(Set(places.map { $0.identity(under: NetworkRules()) }).count == places.count)
    }

    @Test(arguments: [(true, false), (false, true)])
    func `what was believed by laxer rules is not believed by stricter ones`(http: Bool, privateAddresses: Bool) {
        var lax = NetworkRules()
        lax.allowHTTP = http
        lax.allowPrivateAddresses = privateAddresses
        expectOther(lax)
    }

    @Test(arguments: ["10.0.0.0/8", "10.0.0.0/9", "fd00::/8", "192.0.2.1"])
    func `addresses that may not be fetched from any more take their keys with them`(block: String) throws {
        var rules = NetworkRules()
        rules.allowedAddresses = [try #require(AddressBlock(block))]
        expectOther(rules)
    }

    @Test func `keys go with the authorities that vouched for their server`() {
        var rules = NetworkRules()
        rules.caFile = "/etc/assay/ca.pem"
        expectOther(rules)
    }

    @Test func `time-outs change nothing about keys`() {
        var rules = NetworkRules()
        rules.maximumBody = 1
        let place = Location.jwkSet(address: "https://a.example/keys")
        #expect(place.identity(under: rules) == place.identity(under: NetworkRules()))
    }

    private func expectOther(_ rules: NetworkRules) {
        let place = Location.jwkSet(address: "https://a.example/keys")
        #expect(place.identity(under: rules) != place.identity(under: NetworkRules()))
    }
}
