// swift-tools-version: 6.2

import PackageDescription

// A Swift backend that verifies ID Tokens itself, with the libraries and without the service: built and run by scripts/test, so
// that what the README promises keeps building for those who depend on it.
let package = Package(
    name: "client",
    dependencies: [.package(name: "assay", path: "../..")],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "IDToken", package: "assay"), .product(name: "JOSE", package: "assay"),
                .product(name: "TokenDiagnostics", package: "assay"),
            ])
    ]
)
