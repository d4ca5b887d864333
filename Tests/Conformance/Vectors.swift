import Foundation
import JOSE
import Testing
import TestSupport

/// The files of `Vectors/`: third-party test data. `Vectors/SOURCES.md` lists origins and licenses.
enum Vectors {
    private static let folder = Bundle.module.resourceURL!.appending(path: "Vectors")

    static func octets(_ path: String) throws -> [UInt8] { try Array(Data(contentsOf: folder.appending(path: path))) }

    /// A JSON file with any kind of outermost value.
    static func json(_ path: String) throws -> JSONTree {
        let document = try JSONTree(readingObject: Array(#"{"file":"#.utf8) + octets(path) + Array("}".utf8))
        return try #require(document.object?["file"])
    }

    /// The file names in a folder.
    static func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path).sorted()
    }
}

extension JSONTree {
    subscript(name: String) -> JSONTree? { object?[name] }

    func text(_ name: String) throws -> String { try #require(object?[name]?.string, "no string \(name)") }

    func list(_ name: String) throws -> [JSONTree] { try #require(object?[name]?.array, "no array \(name)") }

    func number(_ name: String) throws -> Int64 { try #require(object?[name]?.integer, "no integer \(name)") }

    func member(_ name: String) throws -> JSONTree { try #require(object?[name], "no \(name)") }

    /// A key without its private members.
    func withoutPrivateHalf() throws -> JSONTree {
        let privateMembers: Set = ["d", "p", "q", "dp", "dq", "qi"]
        return .object(try #require(object).filter { !privateMembers.contains($0.key) })
    }
}

/// Why a JWS is rejected with these keys; `nil` if it is verified.
func refusal(_ jws: String, _ keys: [JSONTree]) throws -> JWSError? {
    let set = try JWKSet(jwkSet(keys))
    let verifier = try JWSVerifier()
    do throws(JWSError) {
        _ = try verifier.verify(try CompactJWS(jws), with: set, allowing: .all)
        return nil
    } catch {
        return error
    }
}
