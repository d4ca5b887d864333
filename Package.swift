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
    products: [
        .executable(name: "assay", targets: ["assay"]),
        .library(name: "JOSE", targets: ["JOSE"]),
        .library(name: "IDToken", targets: ["IDToken"]),
        .library(name: "TokenDiagnostics", targets: ["TokenDiagnostics"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        // Files that are part of the program.
        .target(name: "CAssets"),
        .target(name: "Bytes", swiftSettings: settings),
        .target(name: "OpenSSL", dependencies: ["Bytes", "COpenSSL"], swiftSettings: settings),
        .target(name: "JSON", dependencies: ["Bytes", "CJansson"], swiftSettings: settings),
        .target(name: "JOSE", dependencies: ["Bytes", "OpenSSL", "JSON"], swiftSettings: settings),
        .target(name: "IDToken", dependencies: ["Bytes", "JOSE", "OpenSSL", "JSON"], swiftSettings: settings),
        .target(
            name: "TokenDiagnostics",
            dependencies: ["AccessTokens", "Bytes", "IDToken", "JOSE", "Notifications", "OpenSSL", "JSON"],
            swiftSettings: settings),
        .target(
            name: "Grants", dependencies: ["Bytes", "IDToken", "JOSE", "OpenSSL", "JSON"], swiftSettings: settings),
        .target(
            name: "Notifications", dependencies: ["Bytes", "IDToken", "JOSE", "JSON"], swiftSettings: settings),
        .target(
            name: "AccessTokens", dependencies: ["Bytes", "IDToken", "JOSE", "JSON"], swiftSettings: settings),
        .target(name: "Host", dependencies: ["Bytes", "CAssets"], swiftSettings: settings),
        .target(name: "EventLoops", dependencies: nio, swiftSettings: settings),
        .target(
            name: "OutboundHTTP",
            dependencies: [
                "Host",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "KeySource",
            dependencies: [
                "Bytes", "Host", "JOSE", "JSON", "OpenSSL", "OutboundHTTP",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "ProviderClient",
            dependencies: [
                "Grants", "Host", "IDToken", "KeySource", "OpenSSL", "OutboundHTTP",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "HTTPServer",
            dependencies: [
                "Bytes", "EventLoops", "Host", "OpenSSL",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "ReplayStore",
            dependencies: [
                "Bytes", "Host", "OpenSSL",
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "SignIns",
            dependencies: ["Bytes", "Grants", "IDToken", "JOSE", "JSON", "OpenSSL", "ReplayStore", "Verification"],
            swiftSettings: settings
        ),
        .target(
            name: "Gateway", dependencies: ["AccessTokens", "Bytes", "IDToken", "JSON"], swiftSettings: settings),
        .target(
            name: "Verification",
            dependencies: [
                "AccessTokens", "Bytes", "EventLoops", "Gateway", "Grants", "Host", "IDToken", "JOSE", "JSON",
                "KeySource",
                "Notifications", "ProviderClient", "TokenDiagnostics",
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "Telemetry",
            dependencies: [
                "Bytes", "Grants", "Host", "JSON", "KeySource", "OutboundHTTP", "ProviderClient",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ] + nio,
            swiftSettings: settings
        ),
        .target(
            name: "Service",
            dependencies: [
                "Bytes", "EventLoops", "Gateway", "Grants", "HTTPServer", "Host", "IDToken", "JOSE", "JSON",
                "KeySource",
                "Notifications", "OpenSSL", "ProviderClient", "ReplayStore", "SignIns", "Telemetry", "Verification",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ] + nio,
            exclude: ["Console/console.html", "Console/console.css", "Console/console.js"],
            swiftSettings: settings
        ),
        .target(name: "YAML", dependencies: ["Bytes"], swiftSettings: settings),
        .target(
            name: "Settings",
            dependencies: [
                "Bytes", "Gateway", "Grants", "HTTPServer", "Host", "IDToken", "JOSE", "KeySource", "Notifications",
                "OpenSSL", "YAML",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "DevProvider",
            dependencies: [
                "Bytes", "HTTPServer", "Host", "IDToken", "JOSE", "JSON", "OpenSSL",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            exclude: ["Pages/dev.css", "Pages/submit.js"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "assay",
            dependencies: [
                "Bytes", "DevProvider", "Gateway", "Grants", "HTTPServer", "Host", "IDToken", "JSON", "JOSE",
                "KeySource",
                "Notifications", "OpenSSL", "OutboundHTTP", "ProviderClient", "ReplayStore", "Service", "Settings",
                "SignIns", "Telemetry", "TokenDiagnostics", "Verification",
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
                "Gateway", "Host", "IDToken", "JOSE", "JSON", "KeySource", "OpenSSL", "Verification",
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + nio,
            path: "Benchmarks/micro",
            exclude: ["figures.json", "make_fixtures.py", "measure.py", "openssl_patterns.c"],
            resources: [.embedInCode("fixtures.json")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "swift-client",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "docs/clients/swift",
            exclude: ["README.md"],
            // It must also build in other packages, so it uses the compiler's default settings.
            swiftSettings: [.swiftLanguageMode(.v6)] + (strict ? [.treatAllWarnings(as: .error)] : [])
        ),
        .target(
            name: "TestSupport", dependencies: ["Bytes", "Host", "JOSE", "JSON", "KeySource", "OpenSSL"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "SignInFixtures", dependencies: ["IDToken", "JOSE", "JSON", "TestSupport", "TokenDiagnostics"],
            path: "Tests/SignInFixtures", swiftSettings: settings),
        .testTarget(name: "BytesTests", dependencies: ["Bytes"], swiftSettings: settings),
        .testTarget(name: "OpenSSLTests", dependencies: ["Bytes", "OpenSSL", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "JSONTests", dependencies: ["Bytes", "JSON", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "JOSETests", dependencies: ["Bytes", "JOSE", "OpenSSL", "JSON", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "IDTokenTests",
            dependencies: [
                "Bytes", "IDToken", "JOSE", "JSON", "SignInFixtures", "TestSupport", "TokenDiagnostics",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AccessTokensTests",
            dependencies: [
                "AccessTokens", "IDToken", "JOSE", "JSON", "OpenSSL", "SignInFixtures", "TestSupport",
                "TokenDiagnostics",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GatewayTests",
            dependencies: ["AccessTokens", "Bytes", "Gateway", "IDToken", "JOSE", "SignInFixtures", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "NotificationsTests",
            dependencies: [
                "IDToken", "JOSE", "JSON", "Notifications", "SignInFixtures", "TestSupport", "TokenDiagnostics",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TokenDiagnosticsTests",
            dependencies: [
                "Bytes", "IDToken", "JOSE", "OpenSSL", "JSON", "SignInFixtures", "TestSupport", "TokenDiagnostics",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "Conformance",
            dependencies: ["Host", "IDToken", "JOSE", "OpenSSL", "JSON", "KeySource", "TestSupport"],
            exclude: ["RESULTS.md"], resources: [.copy("Vectors")], swiftSettings: settings),
        .testTarget(
            name: "GrantsTests",
            dependencies: ["Grants", "IDToken", "JOSE", "JSON", "OpenSSL", "TestSupport"],
            swiftSettings: settings),
        .testTarget(name: "HostTests", dependencies: ["Bytes", "Host", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "KeySourceTests",
            dependencies: [
                "Bytes", "Host", "JOSE", "JSON", "KeySource", "OutboundHTTP", "TestSupport",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "ProviderClientTests",
            dependencies: ["Grants", "Host", "KeySource", "OpenSSL", "ProviderClient", "TestSupport"] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "YAMLTests", dependencies: ["Bytes", "TestSupport", "YAML", .product(name: "Yams", package: "Yams")],
            swiftSettings: settings),
        .testTarget(
            name: "SettingsTests",
            dependencies: [
                "Gateway", "Grants", "HTTPServer", "Host", "IDToken", "JOSE", "KeySource", "Notifications", "Settings",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "Bytes", "HTTPServer", "TestSupport", .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "VerificationTests",
            dependencies: [
                "AccessTokens", "EventLoops", "Grants", "Host", "IDToken", "JSON", "KeySource", "TestSupport",
                "Verification",
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "ReplayStoreTests",
            dependencies: [
                "Bytes", "Host", "OpenSSL", "ReplayStore", "TestSupport",
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "SignInsTests",
            dependencies: [
                "Bytes", "Grants", "IDToken", "JSON", "OpenSSL", "ReplayStore", "SignIns", "Verification",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                "Grants", "Host", "JSON", "KeySource", "ProviderClient", "Telemetry", "TestSupport",
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "HTTPServer", "Host", "IDToken", "JSON", "KeySource", "Notifications", "OpenSSL", "ReplayStore",
                "Service", "Telemetry", "TestSupport", "TokenDiagnostics", "Verification",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings),
        .testTarget(
            name: "DevProviderTests",
            dependencies: [
                "DevProvider", "HTTPServer", "IDToken", "JOSE", "JSON", "Notifications", "OpenSSL",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ] + nio,
            swiftSettings: settings),
    ]
)
