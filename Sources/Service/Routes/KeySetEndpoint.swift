internal import HTTP
private import NIOHTTP1
private import OAuth

/// `GET /v1/jwks`: the public halves of Assay's own keys. Providers read it, so it needs no API key.
extension ServiceResponder {
    func keySet(_ record: RequestRecord) -> HTTPResponse {
        let keys = service.settings.clientKeys?.published ?? []
        var response = service.end(record, .ok, "application/jwk-set+json", keys)
        response.caching = .forAnHour
        return response
    }
}
