import JOSE

/// An accepted discovery document belongs to its issuer, and jansson reads the same values from it. The keys' URL, and
/// the input itself as a URL, lead to the host that they show.
func fuzz(_ input: [UInt8]) {
    check(address: String(decoding: input, as: UTF8.self))
    guard let metadata = try? ProviderMetadata(input, issuer: issuer) else { return }
    guard let members = (try? JSONTree(readingObject: input))?.object else {
        return require(false, "\(shown(input)) is one JSON object")
    }
    require((members["issuer"]?.string ?? "").utf8.elementsEqual(issuer.utf8), "\(shown(input)) is the issuer's own")
    require(members["jwks_uri"]?.string == metadata.jwksURI, "jwks_uri of \(shown(input))")
    if let listed = members["id_token_signing_alg_values_supported"]?.array {
        let names = listed.compactMap(\.string)
        require(metadata.algorithms.names.allSatisfy(names.contains), "the algorithms of \(shown(input))")
    } else {
        require(metadata.algorithms == .all, "no list of algorithms allows all of them")
    }
    check(address: metadata.jwksURI)
    for endpoint in EndpointName.allCases {
        guard let url = metadata.endpoints[endpoint] else { continue }
        let name = endpoint.member
        require(url.isSecure, "\(name) of \(shown(input)) is https")
        require(members[name]?.string?.lowercased() == url.text.lowercased(), "\(name) of \(shown(input))")
    }
}

private let issuer = "https://a.example"

/// The vetted host must be the one connected to: a second parser must not find another host in the URL.
private func check(address text: String) {
    guard let address = try? FetchURL(text, allowingHTTP: true) else { return }
    require(address.text.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "\(text) is plain ASCII")
    require(!address.text.utf8.contains { #"#\"#.utf8.contains($0) }, "\(text) has no fragment and no backslash")
    require(address.text.lowercased() == text.lowercased(), "\(text) was changed in nothing but the case of letters")
    require((1...65_535).contains(address.port), "\(text) has a port")
    let scheme = address.isSecure ? "https://" : "http://"
    let host = address.host.utf8.contains(UInt8(ascii: ":")) ? "[\(address.host)]" : address.host
    require(!host.isEmpty && address.text.hasPrefix(scheme + host), "the host of \(text) comes first")
    let rest = address.text.utf8.dropFirst(scheme.utf8.count + host.utf8.count)
    require(rest.isEmpty || ":/?".utf8.contains(rest[rest.startIndex]), "the host of \(text) ends where it ends")
    require(!host.utf8.contains { "@#/?%\\".utf8.contains($0) }, "the host of \(text) is a host")
    require((try? FetchURL(address.text, allowingHTTP: address.isSecure == false)) == address, "\(text) is canonical")
    for location in ["/elsewhere", text, "//b.example/", "https://b.example/"] {
        guard let target = try? address.redirected(to: location, allowingHTTP: true) else { continue }
        require(target.isSecure || !address.isSecure, "\(text) leads to nothing less safe")
        require(location != "/elsewhere" || target.host == address.host && target.port == address.port, "the same host")
        require(!location.hasPrefix("//"), "\(text) leads to no other host by a path")
    }
}
