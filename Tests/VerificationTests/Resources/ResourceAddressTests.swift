import Testing
@testable import Verification

@Suite struct ResourceAddressTests {
    @Test(arguments: [
        ("https://mcp.example.com/mcp", "https://mcp.example.com", "/mcp"),
        ("https://MCP.example.com:443/mcp", "https://mcp.example.com", "/mcp"),
        ("https://mcp.example.com:8443/a/b/", "https://mcp.example.com:8443", "/a/b/"),
        ("https://mcp.example.com", "https://mcp.example.com", ""),
        ("https://mcp.example.com/", "https://mcp.example.com", ""),
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000", "/mcp"),
        ("http://localhost:80", "http://localhost", ""), ("https://[::1]/x", "https://[::1]", "/x"),
        // The path is compared as it is written.
        ("https://a.example/%7Eme/../x", "https://a.example", "/%7Eme/../x"),
    ])
    func `the metadata is between host and path`(resource: String, origin: String, path: String) throws {
        let address = try #require(ResourceAddress(resource))
        #expect(address.identifier == resource)
        #expect(address.metadataURL == origin + "/.well-known/oauth-protected-resource" + path)
        #expect(address.metadataPath == "/.well-known/oauth-protected-resource" + path)
    }

    @Test(arguments: [
        "", "mcp.example.com", "/mcp", "http://mcp.example.com/", "ftp://mcp.example.com", "https://", "https:///mcp",
        "https://user@mcp.example.com", "https://mcp.example.com/?a", "https://mcp.example.com/#a",
        "https://mcp.example.com/a b", "https://mcp.example.com/\"", "https://mcp.example.com:0", "https://é.example",
    ])
    func `anything else is no address`(text: String) {
        #expect(ResourceAddress(text) == nil)
    }

    @Test func `an empty path has two spellings as audience`() throws {
        func audiences(_ resource: String) throws -> [String] {
            let address = try #require(ResourceAddress(resource))
            return Resource(id: "r", address: address, providers: [], authorizationServers: []).audiences
        }
        #expect(try audiences("https://a.example") == ["https://a.example", "https://a.example/"])
        #expect(try audiences("https://a.example/") == ["https://a.example/", "https://a.example"])
        #expect(try audiences("https://a.example/b/") == ["https://a.example/b/"])
        #expect(try audiences("https://a.example/b") == ["https://a.example/b"])
    }

    @Test(arguments: [
        (
            "https://a.example/mcp", ["a.example", "A.EXAMPLE", "a.example:443"],
            ["a.example:80", "b.a.example", "", "a"]
        ),
        ("https://a.example:8443", ["a.example:8443"], ["a.example", "a.example:443", "a.example:84430"]),
        ("http://127.0.0.1", ["127.0.0.1", "127.0.0.1:80"], ["127.0.0.1:443", "localhost"]),
    ])
    func `hosts compare without case and without the usual port`(resource: String, own: [String], others: [String])
        throws
    {
        let address = try #require(ResourceAddress(resource))
        for host in own { #expect(address.isHost(Array(host.utf8)[...]), "\(host)") }
        for host in others { #expect(!address.isHost(Array(host.utf8)[...]), "\(host)") }
    }
}
