import FoundationEssentials
import HTTP
import IDToken
import JOSE
import Keys
import NIOCore
import NIOPosix
import OAuth
import SignIns
import Settings
import Verification

/// Connects to every provider of some settings, and to the replay store, and reports the findings.
struct LiveCheck {
    private var results: [Result] = []
    private let stores: [StoreResult]

    private struct Result: Sendable {
        let provider: String
        /// `nil` unless the provider has many.
        var issuer: String?
        let findings: [Finding]

        /// What the findings are about, for people.
        var name: String { issuer.map { "\(provider) \($0)" } ?? provider }

        var couldServe: Bool { !findings.contains { $0.level == .failure } }
    }

    /// The most issuers of a list that are tried.
    private static let maximumIssuers = 20

    /// A store on a server.
    private struct StoreResult: Sendable {
        /// The path of its settings.
        let setting: String
        /// The member of the report.
        let name: StaticString
        let findings: [StoreFinding]

        var couldStore: Bool { !findings.contains { $0.level == .failure } }
    }

    /// Connects to all providers at the same time.
    ///
    /// - Parameter issuer: the only issuer to try, of an entry with many; `nil`: some of each list.
    /// - Throws: ``ConfigurationError`` if the environment's proxy settings are invalid, if a file of `client_keys` can't
    ///   be used, or if no entry with many has the issuer.
    init(_ settings: Settings, issuer: String? = nil) async throws(ConfigurationError) {
        let candidates = try Self.candidates(settings, issuer)
        let proxy = try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let keys = ClientKeys(try ClientKeyFiles.load(settings.clientKeys))
        stores = try await Self.storeFindings(settings, on: loop)
        results = await withTaskGroup(of: (Int, Result).self) { group in
            for (index, candidate) in candidates.enumerated() {
                let provider = candidate.provider
                let inspection = ProviderInspection(provider, candidate.keys, proxy, loop)
                group.addTask {
                    let (findings, document) = await inspection.findings()
                    let requests = document.map { RequestInspection(provider: provider, document: $0).findings } ?? []
                    let clients =
                        candidate.issuer == nil
                        ? await ClientInspection(provider: provider, proxy: proxy, keys: keys, loop: loop)
                            .findings(document?.endpoints) : []
                    return (
                        index,
                        Result(
                            provider: provider.policy.id, issuer: candidate.issuer,
                            findings: findings + requests + clients)
                    )
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// A provider, or one of its issuers.
    private struct Candidate: Sendable {
        let provider: ProviderSettings
        let issuer: String?
        let keys: KeyLocation
    }

    /// - Throws: ``ConfigurationError`` if no entry with many has the issuer.
    private static func candidates(
        _ settings: Settings, _ issuer: String?
    ) throws(ConfigurationError) -> [Candidate] {
        if let issuer {
            let all = settings.providers.compactMap { provider -> Candidate? in
                guard let location = provider.location(ofIssuer: issuer) else { return nil }
                return Candidate(provider: provider, issuer: issuer, keys: location)
            }
            guard all.isEmpty else { return all }
            throw ConfigurationError(
                "--issuer: no provider lists this issuer, byte for byte, and none with issuers: any could use it; correct it, or add it to a list"
            )
        }
        return settings.providers.flatMap { provider -> [Candidate] in
            guard let issuers = provider.issuers else {
                return [Candidate(provider: provider, issuer: nil, keys: provider.keys)]
            }
            return (issuers.list?.sample(atMost: maximumIssuers) ?? []).compactMap { issuer in
                provider.location(ofIssuer: issuer).map { Candidate(provider: provider, issuer: issuer, keys: $0) }
            }
        }
    }

    var couldAllServe: Bool { results.allSatisfy(\.couldServe) && stores.allSatisfy(\.couldStore) }

    /// The stores that other processes share, each once.
    private static func storeFindings(
        _ settings: Settings, on loop: any EventLoop
    ) async throws(ConfigurationError) -> [StoreResult] {
        let files = try SignInFiles(settings)
        _ = try files.read()
        var used: [(name: StaticString, Settings.SignIns.Store, StoreFiles)] = []
        if let signIns = settings.signIns { used.append(("store", signIns.store, files.store)) }
        if settings.remembersProofs, settings.proofStore.url != settings.signIns?.store.url {
            used.append(("proof_store", settings.proofStore, files.proofStore))
        }
        var results: [StoreResult] = []
        for (name, store, files) in used {
            guard let store = ValkeySettings(store, files),
                let findings = try? await loop.flatSubmit({ StoreInspection.findings(store, on: loop) }).get()
            else { continue }
            results.append(StoreResult(setting: files.setting, name: name, findings: findings))
        }
        return results
    }

    /// One line per finding: provider, level, subject, and what was found.
    var lines: [String] {
        let width = results.map(\.name.count).max() ?? 0
        let findings = results.flatMap { result in
            result.findings.map { finding in
                [
                    result.name.padded(to: width), finding.level.rawValue.padded(to: 7),
                    finding.subject.rawValue.padded(to: 10), finding.message,
                ].joined(separator: "  ")
            }
        }
        let storeFindings = stores.flatMap { store in
            store.findings.map { "\(store.setting)  \($0.level.rawValue.padded(to: 7))  \($0.message)" }
        }
        return findings + storeFindings + [
            "\(results.count(where: \.couldServe)) of \(results.count) providers could serve"
        ]
    }

    /// The same as one JSON object, with warnings about the settings themselves.
    func json(warnings: [String]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("could_serve", couldAllServe)
            json.array("warnings", warnings)
            for store in stores {
                json.name(store.name)
                json.object { json in
                    json.member("could_serve", store.couldStore)
                    json.objects("findings", store.findings) { json, finding in
                        json.member("level", finding.level.rawValue)
                        json.member("message", finding.message)
                    }
                }
            }
            json.objects("providers", results) { json, result in
                json.member("id", result.provider)
                if let issuer = result.issuer { json.member("issuer", issuer) }
                json.member("could_serve", result.couldServe)
                json.objects("findings", result.findings) { json, finding in
                    json.member("subject", finding.subject.rawValue)
                    json.member("level", finding.level.rawValue)
                    json.member("message", finding.message)
                }
            }
        }
        return json.bytes
    }
}

extension ProviderSettings {
    /// The location of an issuer's keys; `nil` unless this is an entry with many that has it.
    fileprivate func location(ofIssuer issuer: String) -> KeyLocation? {
        guard let issuers, case .issuers(let rules) = keys else { return nil }
        switch issuers {
        case .listed(let list): guard list[issuer] != nil else { return nil }
        case .any(let rules): guard rules.refusal(of: issuer) == nil else { return nil }
        }
        return .network(rules.location(ofIssuer: issuer))
    }
}

extension IntrospectionRules {
    /// Keys are needed only for signed answers.
    fileprivate var needs: ProviderInspection.Needs {
        mustBeSigned ? .keys : endpoint == nil ? .endpoints : .nothing
    }
}

extension ProviderInspection {
    fileprivate init(
        _ provider: ProviderSettings, _ keys: KeyLocation, _ proxy: ProxyEnvironment?, _ loop: any EventLoop
    ) {
        let documents = DocumentFetcher(
            rules: provider.network, proxy: proxy, loop: loop, unixSeconds: SystemClocks.unixSeconds)
        self.init(
            keys: keys, algorithms: provider.policy.algorithms, clockSkewSeconds: provider.policy.clockSkewSeconds,
            documents: documents, needs: provider.introspection?.needs ?? .keys)
    }
}
