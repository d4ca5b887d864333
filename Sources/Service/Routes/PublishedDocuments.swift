private import Bytes
internal import HTTP
private import JOSE
private import NIOHTTP1
private import OAuth
internal import Verification

/// `GET /v1/resources/{id}/metadata`, and the same document where clients look for it, at the resource's own host.
///
/// Clients read it before they have a token, so it needs no API key. Pages of any origin may read it.
extension ServiceResponder {
    /// - Throws: ``Problem/resourceUnknown(nearest:)``, and ``Problem/metadataUnknown`` at the well-known path.
    func metadata(_ request: HTTPRequest, _ record: RequestRecord) throws(Problem) -> HTTPResponse {
        try checkCapacity(for: request, record)
        let resource = try resource(of: request.head, record.route)
        let origin = (name: "Access-Control-Allow-Origin", value: "*")
        guard request.head.method != .options else {
            let asked = request.head.fields.only("Access-Control-Request-Headers")?.string ?? ""
            let headers = asked.isListOfFieldNames ? [(name: "Access-Control-Allow-Headers", value: asked)] : []
            return service.end(
                record, .noContent, nil,
                headers: [origin, (name: "Access-Control-Allow-Methods", value: "GET")] + headers)
        }
        let text = service.json { resource.writeMetadata(to: &$0, service.settings.proofs) }
        var response = service.end(record, .ok, "application/json", text, headers: [origin])
        response.caching = .forAnHour
        return response
    }

    private func resource(of head: RequestHead, _ route: Route) throws(Problem) -> ServedResource {
        if route == .wellKnownMetadata {
            guard let host = head.fields.only("Host"),
                let resource = service.verifier.resource(withMetadataAt: head.path.bytes, onHost: host.bytes)
            else { throw .metadataUnknown }
            return resource
        }
        let id = Route.resource(head.path) ?? ""
        guard let resource = service.verifier.resource(id) else { throw service.verifier.unknownResource(named: id) }
        return resource
    }
}

extension String {
    /// Whether this is one or more names of header fields, separated by commas (RFC 9110, section 5.6.1).
    fileprivate var isListOfFieldNames: Bool {
        !isEmpty && utf8.count <= 1024 && utf8.allSatisfy { $0.isTokenCharacter || ", ".utf8.contains($0) }
    }
}

/// `GET /v1/jwks`: the public halves of Assay's own keys. Providers read it, so it needs no API key.
extension ServiceResponder {
    func keySet(_ record: RequestRecord) -> HTTPResponse {
        let keys = service.settings.clientKeys?.published ?? []
        var response = service.end(record, .ok, "application/jwk-set+json", keys)
        response.caching = .forAnHour
        return response
    }
}
