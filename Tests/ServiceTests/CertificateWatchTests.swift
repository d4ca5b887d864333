import Foundation
import HTTP
@testable import Service
import Testing
import TestSupport

@Suite struct CertificateWatchTests {
    @Test func `changed files are taken into use, and counted`() async throws {
        try await Files.run(.one) { files in
            let watch = try files.watch()
            #expect(watch.tls.expiresAtUnixSeconds == Pair.one.expiresAtUnixSeconds)
            await watch.files.poll()
            #expect(watch.files.counts == .init(successes: 0, failures: 0))
            try files.put(.two)
            await watch.files.poll()
            #expect(watch.files.counts == .init(successes: 1, failures: 0))
            #expect(watch.tls.expiresAtUnixSeconds == Pair.two.expiresAtUnixSeconds)
            await watch.files.poll()
            #expect(watch.files.counts == .init(successes: 1, failures: 0))
        }
    }

    @Test func `files that can't be used change nothing, and count once each`() async throws {
        try await Files.run(.one) { files in
            let watch = try files.watch()
            try files.put(Pair(certificate: Pair.two.certificate, key: Pair.one.key, expiresAtUnixSeconds: 0))
            for _ in 0..<3 { await watch.files.poll() }
            #expect(watch.files.counts == .init(successes: 0, failures: 1))
            try files.put(Pair(certificate: "nothing", key: Pair.one.key, expiresAtUnixSeconds: 0))
            for _ in 0..<3 { await watch.files.poll() }
            #expect(watch.files.counts == .init(successes: 0, failures: 2))
            #expect(watch.tls.expiresAtUnixSeconds == Pair.one.expiresAtUnixSeconds)
            try files.put(.two)
            await watch.files.poll()
            #expect(watch.files.counts == .init(successes: 1, failures: 2))
        }
    }

    @Test func `there is none without good files`() async throws {
        try await Files.run(Pair(certificate: "", key: Pair.one.key, expiresAtUnixSeconds: 0)) { files in
            let error = #expect(throws: TLSFileError.self) { try files.watch() }
            #expect(error?.description == "\(files.paths.certificate): it contains no PEM certificate")
        }
    }
}

/// A certificate and its key, as files in a temporary directory.
private struct Files {
    let paths: TLSFiles

    static func run(_ pair: Pair, _ body: (Files) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "assay-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let paths = TLSFiles(certificate: directory.path + "/certificate", key: directory.path + "/key")
        let files = Files(paths: paths)
        try files.put(pair)
        try await body(files)
    }

    func put(_ pair: Pair) throws {
        try pair.certificate.write(toFile: paths.certificate, atomically: true, encoding: .utf8)
        try pair.key.write(toFile: paths.key, atomically: true, encoding: .utf8)
    }

    func watch() throws -> CertificateWatch {
        try CertificateWatch(
            .service, paths,
            log: Log(
                to: LogSink(), from: .error, unixMilliseconds: { 0 }, monotonic: { MonotonicTime(milliseconds: 0) }))
    }
}

/// A self-signed certificate that is valid for a hundred years.
private struct Pair {
    let certificate: String
    let key: String
    let expiresAtUnixSeconds: Int64

    static let one = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBcjCCARmgAwIBAgIUI6LPijSKHhlXxUWRKf+LxGXn+S0wCgYIKoZIzj0EAwIw
            DjEMMAoGA1UEAwwDb25lMCAXDTI2MTEyMTE5NDU1MFoYDzIxMjYxMDI4MTk0NTUw
            WjAOMQwwCgYDVQQDDANvbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASq4oCD
            2l7EPofHvx2DGSPSYtJm1UeG3UaifPguzaxdeTas8HZHzes4opiFR+QNvruR8a3K
            sPeRCMein5pzZBvyo1MwUTAdBgNVHQ4EFgQUJFgdt2wjTiswNRD/3Cl4ntcvqCMw
            HwYDVR0jBBgwFoAUJFgdt2wjTiswNRD/3Cl4ntcvqCMwDwYDVR0TAQH/BAUwAwEB
            /zAKBggqhkjOPQQDAgNHADBEAiBdcbVr0o+HsW1x5gT6/EC2xB9wojY1FrW1A9l1
            cfiLYAIgKnhXshTwUvcoDb+M72/scUo93BitBIl9vsCM4kM7jNM=
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiu2Z+23ESdBIF/Sq
            wXlmLnn++UxrbARsCWVcU11Pa66hRANCAASq4oCD2l7EPofHvx2DGSPSYtJm1UeG
            3UaifPguzaxdeTas8HZHzes4opiFR+QNvruR8a3KsPeRCMein5pzZBvy
            -----END PRIVATE KEY-----
            """,
        expiresAtUnixSeconds: 4_948_890_350)
    static let two = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBcjCCARmgAwIBAgIUGGTAEUf5Z/HQaHogWICDHluUB2YwCgYIKoZIzj0EAwIw
            DjEMMAoGA1UEAwwDdHdvMCAXDTI2MTEyMTE5NDU1MVoYDzIxMjUwNjE1MTk0NTUx
            WjAOMQwwCgYDVQQDDAN0d28wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASP4B4O
            iBZJbIP3fW6tasY5gyLcoBNwABxnE5uehlTceVoUVxCnaVL0tb1smjED8A8TYdJI
            q60+T5Lmf4vADCzOo1MwUTAdBgNVHQ4EFgQUG5CwxbnFaWsjH4chrVvd+K5m7eAw
            HwYDVR0jBBgwFoAUG5CwxbnFaWsjH4chrVvd+K5m7eAwDwYDVR0TAQH/BAUwAwEB
            /zAKBggqhkjOPQQDAgNHADBEAiB7B9eHYizVCKJupGbihmJb3mXeUna0/9t/6RYa
            wpYB2QIgftFMxRLnLQJksXwAPL/l9jFD9fij0wOXppP3ECMPRHU=
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglZKKymaIfHsnXm4t
            /OnWjP7H8U+9C1uXqUxRaGen+5uhRANCAASP4B4OiBZJbIP3fW6tasY5gyLcoBNw
            ABxnE5uehlTceVoUVxCnaVL0tb1smjED8A8TYdJIq60+T5Lmf4vADCzO
            -----END PRIVATE KEY-----
            """,
        expiresAtUnixSeconds: 4_905_690_351)
}
