// swift-tools-version: 6.2
import PackageDescription

// A Swift backend that verifies tokens with the libraries, without the service. scripts/client-package builds it, runs the
// program, and tests what the libraries offer to other packages.
let package = Package(
    name: "client",
    dependencies: [.package(name: "assay", path: "../..")],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "IDToken", package: "assay"), .product(name: "JOSE", package: "assay"),
                .product(name: "TokenDiagnostics", package: "assay"),
            ]),
        .testTarget(
            name: "ClientTests",
            dependencies: [
                .product(name: "IDToken", package: "assay"), .product(name: "JOSE", package: "assay"),
                .product(name: "TokenDiagnostics", package: "assay"),
            ],
            exclude: ["make_tokens.py", "tokens.json"]),
    ]
)
