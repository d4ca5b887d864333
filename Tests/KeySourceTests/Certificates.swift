import Foundation
import NIOSSL

/// Certificates made for this run with `openssl`, and removed with it.
final class Certificates: Sendable {
    /// A certificate for the host `localhost` or another, and the key that goes with it.
    struct Pair: Sendable {
        let certificate, key: String

        /// The settings of a server that shows this certificate.
        func serverConfiguration() throws -> TLSConfiguration {
            TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        }
    }

    private let directory: URL
    /// The certificate of the authority that issued the others.
    let authority: String
    let localhost: Pair
    let otherHost: Pair
    let expired: Pair
    let selfSigned: Pair

    static func make() throws -> Certificates { try Certificates() }

    private init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "assay-tls-\(UUID().uuidString)")
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        func path(_ name: String) -> String { directory.appending(path: name).path }
        func openssl(_ arguments: String...) throws {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["openssl"] + arguments
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        }
        func makeSelfSigned(_ name: String, _ subject: String, _ extensions: String) throws -> Pair {
            let pair = Pair(certificate: path(name + ".pem"), key: path(name + ".key"))
            try openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", subject, "-addext", extensions, "-keyout", pair.key, "-out", pair.certificate)
            return pair
        }
        let root = try makeSelfSigned("root", "/CN=A test's authority", "keyUsage=critical,keyCertSign")
        func issue(_ name: String, host: String, days: String) throws -> Pair {
            let pair = Pair(certificate: path(name + ".pem"), key: path(name + ".key"))
            try "subjectAltName=DNS:\(host)\n".write(toFile: path("extensions"), atomically: true, encoding: .utf8)
            try openssl(
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(host)",
                "-keyout", pair.key, "-out", path("request"))
            try openssl(
                "x509", "-req", "-in", path("request"), "-CA", root.certificate, "-CAkey", root.key, "-set_serial",
                String(UInt32.random(in: 1 ... .max)), "-days", days, "-extfile", path("extensions"), "-out",
                pair.certificate)
            return pair
        }
        authority = root.certificate
        localhost = try issue("localhost", host: "localhost", days: "2")
        otherHost = try issue("other", host: "other.example", days: "2")
        expired = try issue("expired", host: "localhost", days: "-1")
        selfSigned = try makeSelfSigned("self", "/CN=localhost", "subjectAltName=DNS:localhost")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
