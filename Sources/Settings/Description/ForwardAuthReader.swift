internal import Gateway
private import IDToken

/// Reads `forward_auth`, after the providers that its policies name.
enum ForwardAuthReader {
    static let member = Member<Settings>(
        [
            SettingDescription(
                section: "forward_auth", [keysTimeout.description, policies],
                "Turns on `/v1/forward-auth/{policy}`, which [gateways](gateways.md) ask whether a request may pass.")
        ]
    ) { top, settings in
        let section = top.section("forward_auth")
        let isOn = top.mentions("forward_auth") || section.source(keysTimeout.name) != nil
        if let milliseconds = keysTimeout.read(section) {
            settings.forwardAuth.keysTimeoutMilliseconds = milliseconds
        } else if isOn {
            let usual = settings.forwardAuth.keysTimeoutMilliseconds
            section.record(keysTimeout.name, keysTimeout.shown(usual), .default)
        }
        let read = section.mappings(policies.name, expected: "a mapping with id and providers") { [settings] in
            PolicyReader.read($0, settings)
        }
        if let read {
            checkDiffer(read, section)
            settings.forwardAuth.policies = read
        }
        if isOn, read?.isEmpty != false {
            section.refuseMissing(policies.name, "forward_auth needs policies: a list with at least one policy")
        }
        section.finish()
    }.comparing(\.forwardAuth)

    private static let keysTimeout = Setting(
        "keys_timeout", .milliseconds(10...10_000), defaultDescription: "`100ms`",
        "How long a request from a gateway waits for keys before the response is 503. The gateway configurations in `deploy/gateways` wait 200 ms for the whole response."
    )

    private static let policies = SettingDescription(
        name: "policies", expected: "a list of mappings",
        form: .list(of: .section(PolicyReader.descriptions), isNeverEmpty: true),
        help: "The policies, each for one path.", isRequired: true)

    private static func checkDiffer(_ read: [ForwardAuthPolicy], _ section: Section) {
        var ids: Set<String> = []
        for policy in read where !ids.insert(policy.id).inserted {
            section.refuse(policies.name, "the policy \(policy.id) is listed twice; rename one")
        }
    }
}
