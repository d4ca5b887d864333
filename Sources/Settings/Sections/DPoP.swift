package import IDToken
private import JOSE

extension Settings {
    /// The settings of DPoP proofs.
    package struct DPoP: Sendable, Equatable {
        package var rules = ProofRules()
        /// Whether a proof passes only once.
        package var remembersProofs = true
        /// How many proofs are remembered in memory, if sign-ins have no other store.
        package var entries = 1_000_000

        package init() {}
    }
}

/// Reads `dpop`. The section turns proofs on, even if it is empty.
enum DPoPReader {
    static let member = Member<Settings>(
        [
            SettingDescription(
                section: "dpop", members.flatMap(\.descriptions),
                "Turns on [DPoP proofs](access-tokens.md#tokens-bound-to-a-key) at `POST /v1/access-tokens/verify`. `dpop: {}` is enough."
            )
        ]
    ) { top, settings in
        let section = top.section("dpop")
        var dpop = Settings.DPoP()
        for member in members { member.read(section, &dpop, nil) }
        section.finish()
        if top.mentions("dpop") || dpop != Settings.DPoP() {
            settings.dpop = dpop
        } else {
            // Disabled settings have no effective defaults.
            for name in ["algorithms", "max_age", "replay"] { section.record(name, nil, .default) }
            section.section("store").record("entries", nil, .default)
        }
    }.comparing(\.dpop)

    private static let members: [Member<Settings.DPoP>] = [
        Member(
            Setting(
                "algorithms", listOf: ValueType<SignatureAlgorithm>.algorithm, refusesEmpty: "must name at least one",
                "The signature algorithms of proofs."), at: \.algorithms),
        Member(
            Setting(
                "max_age", .seconds(1...3600), "Maximum age of a proof since its `iat`, apart from `clock_skew`."),
            at: \.rules.maximumAgeSeconds),
        Member(
            Setting(
                "replay", .onOff,
                "Whether to check that a proof is new: `dpop_proof_replayed`. `off` only where a request may be repeated safely."
            ), at: \.remembersProofs),
        Member(
            section: "store",
            [
                Member(
                    Setting(
                        "entries", .integer(1000...10_000_000), change: .restart,
                        "How many proofs the memory of this process holds. When it is full, a proof gets `503 store_unavailable`; none is forgotten early."
                    ), at: \.entries)
            ],
            "The store of used proofs: the Valkey or Redis of `sign_ins.store`, under its prefix and `dpop:`, or else the memory of this process."
        ),
    ]

    /// A provider whose tokens must be bound to a key of proofs needs proofs to be checked.
    static let check = Member<Settings>([]) { top, settings in
        guard settings.dpop == nil else { return }
        for provider in settings.providers where provider.accessTokens?.requiredBinding == .dpop {
            top.refuse(
                "dpop",
                "provider \(provider.policy.id) has binding: dpop, but proofs are not checked, so all its tokens would be refused; add dpop: {}"
            )
        }
    }
}

extension Settings.DPoP {
    fileprivate var algorithms: [SignatureAlgorithm] {
        get { rules.algorithms.elements }
        set { rules.algorithms = SignatureAlgorithms(newValue) }
    }
}
