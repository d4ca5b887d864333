internal import HTTP

/// `GET /v1/jwks`: the public halves of Assay's own keys. Providers read it, so it needs no API key.
extension ServiceResponder {
    func keySet(_ record: RequestRecord) -> HTTPResponse {
        service.end(
            record, .ok, "application/jwk-set+json", service.settings.clientKeys?.published ?? [],
            headers: [("Cache-Control", "max-age=3600")])
    }
}
