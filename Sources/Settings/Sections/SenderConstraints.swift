private import IDToken
private import OAuth

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
