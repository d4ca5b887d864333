import FoundationEssentials
import HTTP
import IDToken
import JOSE
import Keys
import NIOCore
import NIOPosix
import Replay
import Settings

/// Connects to every provider of some settings, and to the replay store, and reports the findings.
struct LiveCheck {
    private var results: [Result] = []
    private let stores: [StoreResult]

    private struct Result: Sendable {
        let provider: String
        let findings: [Finding]

        var couldServe: Bool { !findings.contains { $0.level == .failure } }
    }

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
    /// - Throws: ``ConfigurationError`` if the environment's proxy settings are invalid.
    init(_ settings: Settings) async throws(ConfigurationError) {
        let proxy = try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        stores = try await Self.storeFindings(settings, on: loop)
        results = await withTaskGroup(of: (Int, Result).self) { group in
            for (index, provider) in settings.providers.enumerated() {
                let inspection = ProviderInspection(provider, proxy, loop)
                group.addTask {
                    let (findings, discovered) = await inspection.findings()
                    let clients = await ClientInspection(provider, proxy, loop).findings(discovered)
                    return (index, Result(provider: provider.policy.id, findings: findings + clients))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
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
        let width = results.map(\.provider.count).max() ?? 0
        let findings = results.flatMap { result in
            result.findings.map { finding in
                [
                    result.provider.padded(to: width), finding.level.rawValue.padded(to: 7),
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

extension ProviderInspection {
    fileprivate init(
        _ provider: ProviderSettings, _ proxy: ProxyEnvironment?, _ loop: any EventLoop
    ) {
        self.init(
            keys: provider.keys, algorithms: provider.policy.algorithms,
            clockSkewSeconds: provider.policy.clockSkewSeconds, rules: provider.network, proxy: proxy, loop: loop,
            unixSeconds: SystemClocks.unixSeconds)
    }
}
