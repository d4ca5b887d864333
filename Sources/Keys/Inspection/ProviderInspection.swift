package import JOSE

/// Connects to one provider as the service would, by the same rules, and reports its findings.
package struct ProviderInspection: Sendable {
    private let keys: KeyLocation
    private let algorithms: SignatureAlgorithms?
    private let clockSkewSeconds: Int64
    private let documents: DocumentFetcher
    private let needs: Needs

    /// What the service fetches at its start.
    package enum Needs: Sendable {
        case keys
        /// The discovery document alone.
        case endpoints
        case nothing
    }

    /// - Parameters:
    ///   - algorithms: the algorithms that the settings allow; `nil`: the location decides.
    ///   - clockSkewSeconds: the allowed difference between the provider's clock and ours.
    package init(
        keys: KeyLocation, algorithms: SignatureAlgorithms?, clockSkewSeconds: Int64, documents: DocumentFetcher,
        needs: Needs = .keys
    ) {
        self.keys = keys
        self.algorithms = algorithms
        self.clockSkewSeconds = clockSkewSeconds
        self.documents = documents
        self.needs = needs
    }

    /// Fetches once what the service would fetch at its start.
    ///
    /// - Returns: the findings in order, at least one of which has the level `failure` if the service would get no
    ///   keys; and the discovery document, if it could be used.
    package func findings() async -> (findings: [Finding], document: InspectedDocument?) {
        var report = InspectionReport(unixSeconds: documents.unixSeconds())
        var document: InspectedDocument?
        guard needs == .keys else {
            if needs == .endpoints, case .network(.discovery(let address, let others, let issuer, _), _) = keys {
                document = try? await inspectEndpoints([address] + others, issuer, &report)
                report.addClock(clockSkewSeconds: clockSkewSeconds)
            }
            return (report.findings, document)
        }
        if case .network(let location, _) = keys {
            // The failure is already in the report.
            document = try? await inspect(location, &report)
            report.addClock(clockSkewSeconds: clockSkewSeconds)
        }
        if let file = keys.file { await inspect(file: file, &report) }
        return (report.findings, document)
    }

    private func inspect(
        _ location: KeyLocation.Network, _ report: inout InspectionReport
    ) async throws(FetchFailure) -> InspectedDocument? {
        var inspected: InspectedDocument?
        // No key has this ID. A "not found" response shows that the server handles requests for single keys.
        let found = try await location.resolve(keyIDs: [Self.noKeyID]) { (address, step) async throws(FetchFailure) in
            switch step {
            case .discovery: try await fetch(address, .discovery, mayBeRefused: step.hasAlternative, &report)
            case .keys: try await fetch(address, .keys, mayBeAbsent: location.findsKeysByID, &report)
            }
        } read: { (document, issuer) throws(FetchFailure) in
            let metadata: ProviderMetadata
            do throws(FetchFailure) {
                metadata = try ProviderMetadata(document.body, issuer: issuer, under: documents.rules)
            } catch {
                report.addRefusal(error, ofDiscovery: document.body, configuredIssuer: issuer)
                throw error
            }
            report.add(metadata, algorithms ?? location.algorithms(of: metadata), allowsHTTP: documents.rules.allowHTTP)
            inspected = InspectedDocument(document.body, metadata.endpoints)
            return metadata
        }
        guard !location.findsKeysByID, let keys = found.documents.first else {
            report.add(.keys, .ok, "the server responds; each key is fetched when a token first names it")
            return nil
        }
        do throws(FetchFailure) {
            _ = try location.keySet(in: found.documents, under: documents.rules)
        } catch {
            report.add(error, on: .keys)
        }
        report.addKeys(
            location.entries(in: keys), algorithms ?? found.metadata.map(location.algorithms) ?? .all)
        report.addFreshness(keys.document.lifetime)
        return inspected
    }

    private func inspectEndpoints(
        _ addresses: [String], _ issuer: String, _ report: inout InspectionReport
    ) async throws(FetchFailure) -> InspectedDocument {
        let document = try await KeyLocation.Network.document(at: addresses) {
            (address, step) async throws(FetchFailure) in
            try await fetch(address, .discovery, mayBeRefused: step.hasAlternative, &report)
        }
        do throws(FetchFailure) {
            let endpoints = try DiscoveredEndpoints(reading: document.body, issuer: issuer, under: documents.rules)
            report.add(.discovery, .ok, "the document has the configured issuer")
            return InspectedDocument(document.body, endpoints)
        } catch {
            report.addRefusal(error, ofDiscovery: document.body, configuredIssuer: issuer)
            throw error
        }
    }

    private static let noKeyID = "00000000-0000-0000-0000-000000000000"

    private func fetch(
        _ address: String, _ subject: Finding.Subject, mayBeAbsent: Bool = false, mayBeRefused: Bool = false,
        _ report: inout InspectionReport
    ) async throws(FetchFailure) -> DocumentFetcher.Document {
        let trace = FetchTrace()
        var documents = documents
        documents.dialer.trace = trace
        do throws(FetchFailure) {
            let document = try await documents.fetch(address)
            report.add(trace.events, fetchedFrom: address)
            return document
        } catch {
            report.add(trace.events, fetchedFrom: address)
            if !(mayBeAbsent && error.isAbsence || mayBeRefused && error.isRefusal) {
                let hasResolved = !trace.events.isEmpty
                report.add(error, on: subject, from: address, hasResolved: hasResolved)
            }
            throw error
        }
    }

    private func inspect(file: String, _ report: inout InspectionReport) async {
        let fetcher = FileKeyFetcher(path: file, loop: documents.loop, unixSeconds: documents.unixSeconds)
        do throws(FetchFailure) {
            let fetched = try await fetcher.fetch(.reload)
            report.add(.file, .ok, "the key file exists")
            report.addKeys(JWKSet.entries(of: fetched.text), algorithms ?? .all)
        } catch {
            report.add(.file, .failure, "the key file: \(error.message)")
        }
    }
}

/// A provider's discovery document, as far as an inspection asks for it.
package struct InspectedDocument: Sendable {
    package let endpoints: DiscoveredEndpoints
    private let members: JSONObject?

    init(_ document: [UInt8], _ endpoints: DiscoveredEndpoints) {
        self.endpoints = endpoints
        members = try? JSONObject(document)
    }

    /// The strings of a list; `nil` if the document has no such list.
    package func list(_ name: String) -> [String]? {
        members?[JSONName(name)]?.elements?.compactMap(\.string)
    }

    /// Whether a member is `true`.
    package func isTrue(_ name: String) -> Bool { members?[JSONName(name)]?.bool == true }
}
