package import IDToken
private import JOSE
private import OAuth
private import Verification

extension Settings {
    /// The settings of DPoP proofs.
    package struct DPoP: Sendable, Equatable {
        package var rules = ProofRules()
        /// The store of used proofs.
        package var store: SignIns.Store = DPoP.ownStore

        /// The defaults of a store that has nothing in common with that of sign-ins.
        static let ownStore: SignIns.Store = store(beside: nil)

        /// The default: the server of sign-ins under a prefix of its own, or a memory of its own.
        static func store(beside signIns: SignIns?) -> SignIns.Store {
            var store = signIns?.store ?? SignIns.Store()
            store.prefix += "dpop:"
            store.entries = 1_000_000
            return store
        }
    }

    /// The store of used proofs, also before proofs are turned on.
    package var proofStore: SignIns.Store { dpop?.store ?? DPoP.store(beside: signIns) }

    /// Whether any proof passes only once.
    package var remembersProofs: Bool { usesProofs(\.passesOnce, \.passesOnce) }

    /// Whether any proof needs a nonce.
    var needsProofNonces: Bool { usesProofs(\.needsNonce, \.needsNonce) }

    private func usesProofs(_ rule: KeyPath<ProofRules, Bool>, _ use: KeyPath<ProofUse, Bool?>) -> Bool {
        guard let dpop else { return false }
        return dpop.rules[keyPath: rule]
            || providers.contains { $0.accessTokens?.proofUse[keyPath: use] == true }
            || resources.contains { $0.proofUse[keyPath: use] == true }
            || forwardAuth.policies.contains { $0.proofUse[keyPath: use] == true }
    }
}

/// Reads `dpop`. The section turns proofs on, even if it is empty.
enum DPoPReader {
    static let member = Member<Settings>(
        section: "dpop",
        of: members.flatMap(\.descriptions) + [
            SettingDescription(
                section: "store", change: .restart, StoreReader.ofProofs.members.flatMap(\.descriptions),
                "The store of used proofs, apart from that of sign-ins.")
        ],
        "Turns on [DPoP proofs](access-tokens.md#tokens-bound-to-a-key) at `POST /v1/access-tokens/verify`, and in policies of `forward_auth` that have `request_url`. `dpop: {}` is enough."
    ) { top, settings in
        let section = top.section("dpop")
        var dpop = Settings.DPoP()
        for member in members { member.read(section, &dpop, nil) }
        let isOn =
            top.mentions("dpop") || dpop != Settings.DPoP()
            || section.section("store").hasAny(of: StoreReader.ofProofs.members)
        if isOn {
            dpop.store = StoreReader.readProofStore(section, settings.signIns)
            settings.dpop = dpop
        } else {
            section.recordNoDefaults(of: members)
            section.section("store").recordNoDefaults(of: StoreReader.ofProofs.members)
        }
        section.finish()
    }.comparing { settings, running in
        var before = running.dpop
        before?.store = settings.proofStore
        let isMoved = settings.proofStore != running.proofStore && settings.signIns == running.signIns
        return (isMoved ? [SettingChange(name: "dpop.store", when: .restart)] : [])
            + (settings.dpop == before ? [] : [SettingChange(name: "dpop", when: .reload)])
    }

    private static let members: [Member<Settings.DPoP>] = [
        Setting(
            "algorithms", listOf: ValueType<SignatureAlgorithm>.algorithm, refusesEmpty: "must name at least one",
            "The signature algorithms of proofs."
        ).at(\.algorithms),
        Setting("max_age", .seconds(1...3600), "Maximum age of a proof since its `iat`, apart from `clock_skew`.")
            .at(\.rules.maximumAgeSeconds),
        Setting(
            "replay", .onOff,
            "Whether to check that a proof is new: `dpop_proof_replayed`. `off` only where a request may be repeated safely, or for a gateway whose backend checks the proof itself. An entry of `providers`, a resource and a policy may say otherwise."
        ).at(\.rules.passesOnce),
        Setting(
            "nonce", .words("required", "off"),
            "Whether a proof must have a nonce that Assay has made in the last 5 minutes: `dpop_nonce_required`. Nonces are made with the keys of `sign_ins.key_files`, or else with a key of the process. An entry of `providers`, a resource and a policy may say otherwise."
        ).at(\.rules.needsNonce),
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

/// `replay` and `nonce`, where they are said of some proofs only.
enum ProofUseReader {
    static let replay = Setting(
        "replay", .onOff, defaultDescription: "as in more general settings",
        "Whether to check that a [DPoP proof](access-tokens.md#tokens-bound-to-a-key) is new. A policy comes before its resource, a resource before the token's provider, and all of them before `dpop.replay`."
    )
    static let nonce = Setting(
        "nonce", .words("required", "off"), defaultDescription: "as in more general settings",
        "Whether a [DPoP proof](access-tokens.md#tokens-bound-to-a-key) must have a nonce. A policy comes before its resource, a resource before the token's provider, and all of them before `dpop.nonce`."
    )

    static let descriptions = [replay.description, nonce.description]

    static func read(_ section: Section) -> ProofUse {
        var use = ProofUse()
        use.passesOnce = replay.read(section)
        use.needsNonce = nonce.read(section)
        return use
    }

    /// Refuses both where proofs are not checked.
    ///
    /// - Parameter reason: why, and what to do.
    static func refuse(in section: Section, _ reason: String) {
        for name in descriptions.map(\.name) where section.mentions(name) {
            section.refuse(name, "\(name) is about DPoP proofs, \(reason), or remove \(name)")
        }
    }
}

/// What clients whose grants are bound need elsewhere in the settings.
enum SenderConstraintReader {
    /// Whether there are keys that seal the bindings.
    static let check = Member<Settings>([]) { top, settings in
        guard settings.signIns == nil, !top.isFaulty("sign_ins") else { return }
        for (provider, client) in settings.boundClients {
            top.refuse(
                "sign_ins",
                "provider \(provider): the client \(client) has sender_constraint: dpop, which needs sign_ins, whose key files seal the keys of its grants; add sign_ins with key_files"
            )
        }
    }
}

extension Settings {
    /// The clients whose grants are bound to keys, each with its provider.
    fileprivate var boundClients: [(provider: String, client: String)] {
        providers.flatMap { provider in
            provider.clients.filter { $0.client.senderConstraint == .dpop }.map { (provider.policy.id, $0.client.id) }
        }
    }

    /// A key that the process made at its start seals bindings that no other process opens.
    var bindingWarnings: [String] {
        guard let signIns, signIns.keyFiles.isEmpty else { return [] }
        return boundClients.map { provider, client in
            "provider \(provider): the client \(client) has sender_constraint: dpop, but sign_ins has no key_files: a restart makes every binding invalid, and so every refresh token; set sign_ins.key_files"
        }
    }
}
