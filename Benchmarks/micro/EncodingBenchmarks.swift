import JOSE

/// Decoding: from the octets of a request to the members of its JSON.
let encodingBenchmarks = [
    Benchmark("base64url-payload") {
        let fixtures = try Fixtures()
        let text = try fixtures.part(1, of: "RS256")
        let length = try fixtures.decodedPart(1, of: "RS256").count
        return { Base64URL.decode(text.span)?.count == length }
    },
    Benchmark("json-payload") {
        let payload = try Fixtures().decodedPart(1, of: "RS256")
        return { try JSONObject(payload).count == 13 }
    },
    Benchmark("json-request") {
        let body = try Fixtures().request("RS256")
        return { try JSONObject(body, allowsNUL: true).count == 3 }
    },
    Benchmark("header-parsed") {
        let json = try Fixtures().decodedPart(0, of: "RS256")
        return { try JOSEHeader(json).algorithm == .rs256 }
    },
    Benchmark("header-remembered") {
        let fixtures = try Fixtures()
        let headerCache = JOSEHeaderCache()
        headerCache.insert(try CompactJWS(try fixtures.token("RS256")[...]))
        let text = try fixtures.part(0, of: "RS256")
        return { headerCache[text.span]?.algorithm == .rs256 }
    },
    Benchmark("compact-jws") {
        let fixtures = try Fixtures()
        let token = try fixtures.token("RS256")[...]
        let length = try fixtures.decodedPart(1, of: "RS256").count
        let headerCache = JOSEHeaderCache()
        headerCache.insert(try CompactJWS(token))
        return { try CompactJWS(token, headerCache: headerCache).payload.count == length }
    },
]
