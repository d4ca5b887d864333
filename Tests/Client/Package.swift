// swift-tools-version: 6.2
import PackageDescription

// A Swift backend that verifies ID Tokens with the libraries, without the service. scripts/test builds and runs it, so
// that the use described in the README keeps working.
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
