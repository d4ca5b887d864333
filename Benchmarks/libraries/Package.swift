// swift-tools-version: 6.2
import PackageDescription

// The library and jwt-kit in one process, on the same tokens, beside the signature checks of their cryptographic
// libraries. scripts/bench --libraries builds and runs it.
let package = Package(
    name: "libraries",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .target(name: "CCompare", linkerSettings: [.linkedLibrary("crypto")]),
        .executableTarget(
            name: "Compare",
            dependencies: [
                "CCompare",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "IDToken", package: "assay"),
                .product(name: "JOSE", package: "assay"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ]),
    ]
)
