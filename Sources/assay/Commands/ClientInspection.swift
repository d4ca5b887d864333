import Bytes
import HTTP
import IDToken
import Keys
import NIOCore
import OAuth
import Settings

/// Finds out whether a provider accepts its clients' credentials, without using anything up.
struct ClientInspection: Sendable {
    let provider: ProviderSettings
    let proxy: ProxyEnvironment?
    /// Assay's own, with which clients without a key file sign.
    let keys: ClientKeys
    let loop: any EventLoop

    /// - Parameter discovered: the endpoints that the discovery document names; `nil` if none was read.
    /// - Returns: none for a provider without clients.
    func findings(_ discovered: DiscoveredEndpoints?) async -> [Finding] {
        guard let first = provider.clients.first else { return [] }
        if let rules = provider.introspection { return await findings(first, askingBy: rules, discovered) }
        let calls: ClientCalls
        do throws(ConfigurationError) {
            calls = try ClientCalls(provider, proxy, keys, on: loop)
        } catch {
            return [Finding(.clients, .failure, error.text)]
        }
        defer { calls.stop() }
        let presents = provider.clients.contains(where: \.client.hasCertificate)
        guard let address = calls.endpoint(.token, discovered, presentingCertificate: presents) else {
            return [
                Finding(
                    .clients, .failure,
                    "no token endpoint is known: the discovery document names none, so "
                        + (provider.clients.contains { $0.client.profile != nil }
                            ? "the provider must name it" : "set endpoints.token"))
            ]
        }
        let revocation = calls.endpoint(.revocation, discovered, presentingCertificate: presents).map {
            ", and revoked at \($0.text)"
        }
        var findings = [
            Finding(
                .clients, .ok,
                "tokens are redeemed at \(address.text)" + (revocation ?? "; there is no revocation endpoint"))
        ]
        for client in provider.clients {
            let own = calls.endpoint(.token, discovered, presentingCertificate: client.client.hasCertificate)
            let verdict = await calls.verdict(on: client.client.id, at: own ?? address)
            findings.append(Self.finding(client.client.id, verdict))
        }
        return findings
    }

    private static func finding(_ clientID: String, _ verdict: ClientCalls.Verdict) -> Finding {
        let name = clientID.quotedASCII(maximumLength: 100)
        return switch verdict {
        case .accepted: Finding(.clients, .ok, "the provider accepts the client \(name)")
        case .rejected(let error):
            Finding(
                .clients, .failure,
                "the provider rejects the client \(name) (\(error.text)): check its id, its auth, and the contents of its files"
            )
        case .unclear(let error):
            Finding(
                .clients, .warning,
                "the provider answered \(error.text) to a made-up refresh token of the client \(name), which does not show whether it accepts the client"
            )
        case .granted:
            Finding(
                .clients, .warning,
                "the provider accepted a made-up refresh token of the client \(name): check endpoints.token")
        case .notOAuth(let reason):
            Finding(
                .clients, .failure,
                "the token endpoint's response for the client \(name) is not an OAuth response: \(reason); check endpoints.token"
            )
        case .unreachable(let reason):
            Finding(.clients, .failure, "the token endpoint can't be used for the client \(name): \(reason)")
        }
    }
}

extension ClientInspection {
    private static let introspectionTimeout = Interval.seconds(10)

    /// Whether the provider answers questions about opaque tokens: asks about one that does not exist.
    private func findings(
        _ client: ClientSettings, askingBy rules: IntrospectionRules, _ discovered: DiscoveredEndpoints?
    ) async -> [Finding] {
        do throws(ConfigurationError) {
            let credential = try ClientFiles.credential(of: client, provider: provider.policy.id, keys)
            let presents = client.client.hasCertificate
            let found = discovered?.url(.introspection, presentingCertificate: presents)
            guard let address = try endpoint(rules) ?? found else {
                return [
                    Finding(
                        .clients, .failure,
                        "no introspection endpoint is known: the discovery document names none that can be called, so set introspection.endpoint"
                    )
                ]
            }
            let calls = ProviderCalls(
                rules: provider.network, proxy: proxy, credentials: [client.client.id: credential],
                quirks: provider.quirks, keptConnections: 1, on: loop
            ) { _ in }
            defer { calls.stop() }
            return [
                Finding(.clients, .ok, "tokens are asked about at \(address.text)"),
                await verdict(of: calls, on: client.client.id, rules, at: address),
            ]
        } catch {
            return [Finding(.clients, .failure, error.text)]
        }
    }

    private func endpoint(_ rules: IntrospectionRules) throws(ConfigurationError) -> FetchURL? {
        guard let text = rules.endpoint else { return nil }
        do throws(FetchFailure) {
            return try FetchURL(text, allowingHTTP: provider.network.allowHTTP)
        } catch {
            throw ConfigurationError("introspection.endpoint: \(error.message)")
        }
    }

    private func verdict(
        of calls: ProviderCalls, on clientID: String, _ rules: IntrospectionRules, at address: FetchURL
    ) async -> Finding {
        let name = clientID.quotedASCII(maximumLength: 100)
        // A call never fails, and there is a slot.
        guard let slot = CallSlots(limit: 1).reserve(), let token = AccessToken("assay-made-this-up"),
            let called = try? await calls.introspect(
                token, by: clientID, at: address, mustBeSigned: rules.mustBeSigned, slot,
                until: SystemClocks.monotonic() + Self.introspectionTimeout, reading: { response, _ in response }
            ).get()
        else { return Finding(.clients, .failure, "no question can be asked") }
        switch called.result {
        case .success(.plain(.inactive)):
            return Finding(
                .clients, .ok, "the provider accepts the client \(name), and says that a made-up token is not active")
        case .success(.plain(.active)):
            return Finding(
                .clients, .failure, "the provider says that a made-up token is active: check introspection.endpoint")
        case .success(.signed):
            return Finding(
                .clients, .ok, "the provider accepts the client \(name), and signs its answers (not verified here)")
        case .failure(.clientRejected(let error)):
            let reason =
                called.reports.last?.providerDescription.map { ": " + $0.quotedASCII(maximumLength: 300) } ?? ""
            return Finding(
                .clients, .failure,
                "the provider rejects the client \(name) (\(error.rawValue)\(reason)): check its id, its auth, and the contents of its files"
            )
        case .failure(let failure):
            let reason = called.reports.last?.reason ?? CallOutcome(failure).rawValue
            return Finding(
                .clients, .failure,
                "the introspection endpoint can't be used for the client \(name): \(reason); check introspection.endpoint"
            )
        }
    }
}

/// Likely reasons why Apple refuses a client. Apple returns `invalid_client` for every one of them.
struct AppleClientDiagnosis {
    let client: AppleClient

    /// Probable mistakes in the credentials themselves. None is certain.
    private var suspicions: [String] {
        var suspicions: [String] = []
        let file = client.keyFile.split(separator: "/").last.map(String.init) ?? client.keyFile
        if file.hasPrefix("AuthKey_"), file.hasSuffix(".p8"), file != "AuthKey_\(client.keyID).p8" {
            let named = file.dropFirst("AuthKey_".count).dropLast(".p8".count)
            suspicions.append("the Key ID is \(client.keyID), but the key file's name says \(named)")
        }
        if client.teamID == client.keyID { suspicions.append("the Team ID and the Key ID are the same") }
        if client.id == client.teamID || client.id == client.keyID {
            suspicions.append(
                "the client ID is the \(client.id == client.teamID ? "Team" : "Key") ID: it must be the bundle ID or the Services ID"
            )
        } else if client.id.hasPrefix(client.teamID + ".") {
            suspicions.append(
                "the client ID begins with the Team ID: use the bundle ID alone, \(client.id.dropFirst(client.teamID.count + 1))"
            )
        } else if !isIdentifierOfApp(client.id) {
            suspicions.append("the client ID does not look like a bundle ID or a Services ID, such as com.example.app")
        }
        return suspicions
    }

    private func isIdentifierOfApp(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
    }

    /// Likely causes of a refusal, most likely first.
    ///
    /// - Parameter isKeyAccepted: whether Apple accepts another client with the same key, Key ID and Team ID.
    private func causes(of error: OAuthErrorName, isKeyAccepted: Bool) -> [String] {
        let registered =
            "the client ID: no app and no Services ID of the team is registered under exactly \(client.id) (case matters), or the key was made for another primary App ID (Keys, Sign in with Apple, Configure)"
        if error == .unauthorizedClient {
            return suspicions + [
                "Sign in with Apple is not turned on for the App ID, or the Services ID is not configured with a primary App ID"
            ]
        }
        if isKeyAccepted {
            return suspicions + [
                registered + ". Apple accepts another client with the same key, so Team ID, Key ID and key are right"
            ]
        }
        return suspicions + [
            registered,
            "the Key ID: \(client.keyID) is another key's, or the key has been revoked (Keys)",
            "the Team ID: \(client.teamID) is not the team that owns the key and the app (Membership details)",
            "the key: it was not created for Sign in with Apple (Keys)",
            "this machine's clock, which sets iat and exp: is it \(Self.now) in UTC?",
        ]
    }

    /// The refusal, what was sent, and likely causes, as human-readable text.
    ///
    /// - Parameter description: Apple's own explanation.
    func explanation(of error: OAuthErrorName, saying description: String? = nil, isKeyAccepted: Bool) -> String {
        // To compare with Apple's developer pages. None is secret.
        let sent = [
            ("client_id, sub", client.id), ("iss (Team ID)", client.teamID), ("kid (Key ID)", client.keyID),
            ("signed with", client.keyFile),
        ].map { name, value in "  \(name.padded(to: 15))  \(value)" }
        let causes = causes(of: error, isKeyAccepted: isKeyAccepted).enumerated().map {
            "  \($0.offset + 1). \($0.element)"
        }
        return
            (["\(client.id): Apple rejects the client: \(error.rawValue)"]
            + (description.map { ["Apple says: " + $0.quotedASCII(maximumLength: 300)] } ?? []) + ["What was sent:"]
            + sent
            + ["Likely causes, most likely first (compare with developer.apple.com/account):"] + causes).joined(
                separator: "\n")
    }

    private static var now: String {
        String(Timestamp.text(unixMilliseconds: SystemClocks.unixMilliseconds()).prefix(16))
    }
}
