import Foundation
import NIOSSL

/// A CA created with `openssl` for one test, with the certificates that the test needs. Deleted together with them.
final class Certificates: Sendable {
    /// A server's certificate and key.
    struct Pair: Sendable {
        let certificate, key: String

        /// The configuration of a server with this certificate.
        func serverConfiguration() throws -> TLSConfiguration {
            TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        }
    }

    enum Kind: Sendable, CaseIterable {
        /// Issued by the CA for `localhost`.
        case localhost
        /// Issued by the CA for another host.
        case otherHost
        /// Issued by the CA for `localhost`, expired yesterday.
        case expired
        /// Issued by the CA for `localhost`, not valid for decades.
        case notYetValid
        /// Issued by the CA for `localhost`, signed with SHA-1.
        case weaklySigned
        /// Self-signed, for `localhost`.
        case selfSigned
        /// Issued by the CA, with `localhost` only as its common name.
        case commonName
    }

    private let directory: URL
    /// The CA's certificate.
    let authority: String

    static func make() throws -> Certificates { try Certificates() }

    private init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "assay-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        authority = directory.appending(path: "root.pem").path
        _ = try makeSelfSigned("root", "/CN=A test's authority", "keyUsage=critical,keyCertSign")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func make(_ kind: Kind) throws -> Pair {
        switch kind {
        case .localhost: try issue("localhost", from: Date(), to: Date() + 86400)
        case .otherHost: try issue("other.example", from: Date(), to: Date() + 86400)
        case .expired: try issue("localhost", from: Date() - 2 * 86400, to: Date() - 86400)
        case .notYetValid: try issue("localhost", from: Date() + 100 * 365 * 86400, to: Date() + 101 * 365 * 86400)
        case .weaklySigned: try issue("localhost", from: Date(), to: Date() + 86400, digest: "sha1")
        case .commonName:
            try issue("localhost", from: Date(), to: Date() + 86400, extensions: "keyUsage=digitalSignature")
        case .selfSigned: try makeSelfSigned("self", "/CN=localhost", "subjectAltName=DNS:localhost")
        }
    }

    private func makeSelfSigned(_ name: String, _ subject: String, _ extensions: String) throws -> Pair {
        let pair = Pair(certificate: path(name + ".pem"), key: path(name + ".key"))
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            subject, "-addext", extensions, "-keyout", pair.key, "-out", pair.certificate)
        return pair
    }

    /// A certificate for `localhost` by an intermediate CA, and the certificate of the latter, which the CA issued.
    func makeChain() throws -> (pair: Pair, intermediate: String) {
        let authority = try issue(
            "An intermediate CA", "intermediate", from: Date(), to: Date() + 86400,
            extensions: "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign")
        let pair = try issue("localhost", from: Date(), to: Date() + 86400, by: authority)
        return (pair, authority.certificate)
    }

    /// - Parameter extensions: instead of the host as alternative name.
    private func issue(
        _ host: String, _ file: String = "server", from start: Date, to end: Date, digest: String = "sha256",
        extensions: String? = nil, by issuer: Pair? = nil
    ) throws -> Pair {
        let pair = Pair(certificate: path(file + ".pem"), key: path(file + ".key"))
        try write("extensions", (extensions ?? "subjectAltName=DNS:\(host)") + "\n")
        try write("index", "")
        try write(
            "configuration",
            """
            [ca]
            default_ca=authority
            [authority]
            database=\(path("index"))
            new_certs_dir=\(directory.path)
            default_md=\(digest)
            policy=names
            rand_serial=yes
            [names]
            commonName=supplied

            """)
        try openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(host)",
            "-keyout", pair.key, "-out", path("request"))
        try openssl(
            "ca", "-batch", "-config", path("configuration"), "-cert", issuer?.certificate ?? authority,
            "-keyfile", issuer?.key ?? path("root.key"),
            "-startdate", Self.text(start), "-enddate", Self.text(end), "-extfile", path("extensions"),
            "-in", path("request"), "-notext", "-out", pair.certificate)
        return pair
    }

    private func path(_ name: String) -> String { directory.appending(path: name).path }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
    }

    /// A time in the format of `openssl ca`: `20991231235959Z`.
    private static func text(_ time: Date) -> String {
        time.formatted(.iso8601).filter { $0.isNumber || $0 == "Z" }
    }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
