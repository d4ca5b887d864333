private import Bytes
package import OAuth
private import IDToken
package import JOSE
private import Verification

/// Reads `client_keys`.
enum ClientKeysReader {
    private enum Use: String, CaseIterable, Sendable { case signature, encryption }

    private static let id = Setting(
        "id",
        .text("1 to 128 visible ASCII characters") {
            (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isVisibleASCII)
        },
        isRequired: true, "The key's `kid`.")
    private static let use = Setting(
        "use", ValueType<Use>.word, isRequired: true,
        "Whether the key signs the assertions of clients (`signature`), or opens encrypted tokens (`encryption`).")
    private static let keyFile = Setting(
        "key_file", .file(.privateKey), isRequired: true,
        "A file with the private key (PEM, PKCS#8), as `assay key new --algorithm …` writes it. Re-read when it changes. RSA keys have 2048 to 4096 bits, and at most 3072 for encryption. A key has only one use."
    )
    private static let algorithm = Setting(
        "algorithm", ValueType<SignatureAlgorithm>.algorithm, "With `use: signature`: the algorithm to sign with.")
    private static let algorithms = Setting(
        "algorithms", listOf: ValueType<KeyManagementAlgorithm>.word, refusesEmpty: "must name at least one",
        "With `use: encryption`: the algorithms that senders may use with the key. The first is published.")
    private static let published = Setting(
        "published", .boolean, defaultDescription: "`true`",
        "Whether `GET /v1/jwks` offers the key. A key that is not offered still opens tokens.")

    static let member = Member<Settings>([description]) { top, settings in
        settings.clientKeys = read(top) ?? []
    }.comparing(\.clientKeys)

    private static let description = SettingDescription(
        name: "client_keys", expected: "a list of mappings",
        form: .list(
            of: .section([
                id.description, use.description, keyFile.description, algorithm.description, algorithms.description,
                published.description,
            ])),
        help:
            "Assay's own keys, whose public halves `GET /v1/jwks` offers to providers. The first of its use signs, unless a client names one. See [Encrypted tokens](encrypted-tokens.md)."
    )

    private static func read(_ top: Section) -> [ClientKeySettings]? {
        let keys = top.mappings(description.name, expected: "a mapping with id, use and key_file") { read(element: $0) }
        guard let keys else { return nil }
        for (index, key) in keys.enumerated() {
            let others = keys[..<index]
            if others.contains(where: { $0.id.isExactly(key.id) }) {
                top.refuse(description.name, "the key \(key.id) is listed twice; give each an id of its own")
            }
            if let other = others.first(where: {
                $0.keyFile == key.keyFile && $0.use.isSignature != key.use.isSignature
            }) {
                top.refuse(
                    description.name,
                    "the keys \(other.id) and \(key.id) have the same key_file, but a key has only one use; make another with assay key new"
                )
            }
        }
        return keys
    }

    private static func read(element: Section) -> ClientKeySettings? {
        let (id, use, file) = (id.read(element), use.read(element), keyFile.read(element))
        let (algorithm, algorithms) = (algorithm.read(element), algorithms.read(element))
        let isPublished = published.read(element) ?? true
        element.require([Self.id.name, Self.use.name, keyFile.name], "a key needs id, use and key_file")
        let purpose: ClientKeySettings.Use?
        switch use {
        case .signature:
            if element.source(Self.algorithms.name) != nil {
                element.refuse(Self.algorithms.name, "a key with use: signature has one algorithm; set algorithm")
            }
            if algorithm == nil { element.refuseMissing(Self.algorithm.name, "use: signature needs algorithm") }
            purpose = algorithm.map { .signature($0) }
        case .encryption:
            if element.source(Self.algorithm.name) != nil {
                element.refuse(Self.algorithm.name, "a key with use: encryption has a list, algorithms; set that")
            }
            if algorithms == nil { element.refuseMissing(Self.algorithms.name, "use: encryption needs algorithms") }
            purpose = algorithms.map { .encryption($0) }
        case nil: purpose = nil
        }
        element.finish()
        guard let id, let file, let purpose else { return nil }
        element.recordLines([keyFile.name], ofElement: id)
        return ClientKeySettings(id: id, use: purpose, keyFile: file, isPublished: isPublished)
    }

    /// Whether the keys that providers and their clients need are there.
    static let check = Member<Settings>([]) { top, settings in
        let signing = settings.clientKeys.filter(\.use.isSignature)
        let opening = settings.clientKeys.filter { !$0.use.isSignature }
        for provider in settings.providers {
            let id = provider.policy.id
            if let encryption = provider.encryption {
                top.refuse(
                    description.name, if: opening.isEmpty,
                    "provider \(id) has encryption, which needs a key with use: encryption; add one")
                for name in encryption.keys ?? [] where !opening.contains(where: { $0.id.isExactly(name) }) {
                    top.refuse(
                        description.name,
                        "provider \(id): encryption.keys names \(name), which is no key with use: encryption; correct it, or add the key"
                    )
                }
            }
            if let file = provider.namedClients?.key?.file, let key = opening.first(where: { $0.keyFile == file }) {
                top.refuse(
                    description.name,
                    "the key \(key.id) has the file that clients of provider \(id) sign with, but a key has only one use; make another with assay key new"
                )
            }
            for client in provider.clients {
                if let file = client.authentication.secretFiles.first,
                    let key = opening.first(where: { $0.keyFile == file })
                {
                    top.refuse(
                        description.name,
                        "the key \(key.id) has the file that the client \(client.client.id) of provider \(id) signs with, but a key has only one use; make another with assay key new"
                    )
                }
                guard client.needsOwnKey else { continue }
                if signing.isEmpty {
                    top.refuse(
                        description.name,
                        "provider \(id): the client \(client.client.id) needs key_id and key_file with auth: private_key_jwt, or a key with use: signature in client_keys; add one of them"
                    )
                } else if let name = client.client.signingKey, !signing.contains(where: { $0.id.isExactly(name) }) {
                    top.refuse(
                        description.name,
                        "provider \(id): signing_key of the client \(client.client.id) names \(name), which is no key with use: signature; correct it, or add the key"
                    )
                }
                checkProfile(of: client, at: id, &settings.clientKeys, top)
            }
        }
    }

    /// Whether the key that signs for a client has an algorithm of the client's profile. The key's file is read later.
    private static func checkProfile(
        of client: ClientSettings, at provider: String, _ keys: inout [ClientKeySettings], _ top: Section
    ) {
        let name = client.client.signingKey
        guard let profile = client.client.profile,
            let index = keys.firstIndex(where: { $0.use.isSignature && name?.isExactly($0.id) ?? true }),
            case .signature(let algorithm) = keys[index].use
        else { return }
        keys[index].profile = profile
        let key = keys[index]
        guard !profile.algorithms.contains(algorithm) else { return }
        top.refuse(
            description.name,
            "the key \(key.id), which signs for the client \(client.client.id) of provider \(provider), has algorithm: \(algorithm.rawValue), but profile: \(profile.rawValue) allows only \(SecurityProfile.algorithmNames); name another with signing_key"
        )
    }
}

/// A validated key of `client_keys`.
package struct ClientKeySettings: Sendable, Equatable {
    /// `kid`.
    package let id: String
    package let use: Use
    package let keyFile: String
    /// Whether `/v1/jwks` offers it.
    package let isPublished: Bool
    /// The profile of a client that it signs for.
    package var profile: SecurityProfile?

    /// What the key is for, with its algorithms.
    package enum Use: Sendable, Equatable {
        case signature(SignatureAlgorithm)
        /// At least one.
        case encryption([KeyManagementAlgorithm])

        package var isSignature: Bool { if case .signature = self { true } else { false } }
    }
}
