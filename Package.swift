// swift-tools-version: 6.2

import PackageDescription

// Warnings are errors in CI only (`ASSAY_STRICT=1`): a package that depends on the library products must not fail to
// build because a newer compiler warns about something here.
let strict = Context.environment["ASSAY_STRICT"] != nil

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

let package = Package(
    name: "assay",
    // For the libraries without I/O. Everything else needs Linux.
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "assay", targets: ["assay"]),
        .library(name: "JOSE", targets: ["JOSE"]),
        .library(name: "IDToken", targets: ["IDToken"]),
        .library(name: "TokenDiagnostics", targets: ["TokenDiagnostics"]),
        .library(name: "RemoteKeys", targets: ["RemoteKeys"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CJansson", path: "Sources/C/CJansson", pkgConfig: "jansson",
            providers: [.apt(["libjansson-dev"]), .brew(["jansson"])]),
        // Files that are part of the program.
        .target(name: "CAssets", path: "Sources/C/CAssets", exclude: ["base.css"]),
        .target(name: "Bytes", swiftSettings: settings),
        .target(name: "OpenSSL", dependencies: ["Bytes", "COpenSSL"], swiftSettings: settings),
        .target(name: "JOSE", dependencies: ["Bytes", "CJansson", "OpenSSL"], swiftSettings: settings),
        .target(name: "IDToken", dependencies: ["Bytes", "JOSE", "OpenSSL"], swiftSettings: settings),
        .target(
            name: "TokenDiagnostics", dependencies: ["Bytes", "IDToken", "JOSE", "OpenSSL"], swiftSettings: settings),
        .target(
            name: "HTTP",
            dependencies: [
                "Bytes", "CAssets", "OpenSSL",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "Keys",
            dependencies: [
                "Bytes", "HTTP", "JOSE", "OpenSSL",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "RemoteKeys",
            dependencies: [
                "HTTP", "IDToken", "JOSE", "Keys",
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "OAuth",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OpenSSL",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "Verification",
            dependencies: ["Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "TokenDiagnostics"] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "SignIns",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "Verification",
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "Service",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "SignIns", "Verification",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            exclude: ["Console/console.html", "Console/console.css", "Console/console.js"],
            swiftSettings: settings
        ),
        .target(
            name: "Settings",
            dependencies: ["Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "Verification"],
            swiftSettings: settings
        ),
        .target(
            name: "DevProvider",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "OpenSSL", .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            exclude: ["Pages/dev.css", "Pages/submit.js"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "assay",
            dependencies: [
                "Bytes", "DevProvider", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "Service",
                "Settings", "SignIns", "TokenDiagnostics", "Verification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ] + nio,
            swiftSettings: settings
        ),
        .executableTarget(
            name: "micro",
            dependencies: [
                "Bytes", "COpenSSL", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "Service",
                "SignIns", "Verification", .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            path: "Benchmarks/micro",
            exclude: [
                "encrypted.json", "failures.py", "figures.json", "make_encrypted.py", "make_fixtures.py", "measure.py",
                "openssl_patterns.c",
            ],
            resources: [.embedInCode("fixtures.json")],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport", dependencies: ["Bytes", "HTTP", "JOSE", "Keys", "OpenSSL"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "SignInFixtures", dependencies: ["IDToken", "JOSE", "TestSupport", "TokenDiagnostics"],
            path: "Tests/SignInFixtures", swiftSettings: settings),
        .testTarget(name: "BytesTests", dependencies: ["Bytes"], swiftSettings: settings),
        .testTarget(name: "OpenSSLTests", dependencies: ["Bytes", "OpenSSL", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "JOSETests", dependencies: ["Bytes", "JOSE", "OpenSSL", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "IDTokenTests",
            dependencies: [
                "Bytes", "IDToken", "JOSE", "OpenSSL", "SignInFixtures", "TestSupport", "TokenDiagnostics",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TokenDiagnosticsTests",
            dependencies: [
                "Bytes", "IDToken", "JOSE", "OpenSSL", "SignInFixtures", "TestSupport", "TokenDiagnostics",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "Conformance", dependencies: ["HTTP", "IDToken", "JOSE", "Keys", "OpenSSL", "TestSupport"],
            exclude: ["RESULTS.md"], resources: [.copy("Vectors")], swiftSettings: settings),
        .testTarget(
            name: "HTTPTests",
            dependencies: [
                "Bytes", "HTTP", "TestSupport", .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "KeysTests",
            dependencies: [
                "Bytes", "HTTP", "JOSE", "Keys", "TestSupport",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "RemoteKeysTests",
            dependencies: [
                "IDToken", "JOSE", "OpenSSL", "RemoteKeys", "TestSupport",
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "OAuthTests",
            dependencies: ["HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "TestSupport"] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "VerificationTests",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "SignInFixtures", "TestSupport", "Verification",
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "SignInsTests",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "OAuth", "OpenSSL", "SignIns", "TestSupport", "Verification",
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "OpenSSL", "Service", "SignIns", "TestSupport",
                "TokenDiagnostics", "Verification",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "SettingsTests",
            dependencies: [
                "Bytes", "HTTP", "IDToken", "JOSE", "Keys", "OAuth", "Settings", "TestSupport", "Verification",
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DevProviderTests",
            dependencies: [
                "DevProvider", "HTTP", "IDToken", "JOSE", "OpenSSL",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings),
    ]
)
