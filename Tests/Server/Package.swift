// swift-tools-version: 6.2
import PackageDescription

// A Hummingbird server whose users sign in at a provider that fails, recovers and changes its keys. scripts/client-package
// builds and runs it.
let package = Package(
    name: "server",
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(path: "../Middleware"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "IDToken", package: "assay"), .product(name: "RemoteKeys", package: "assay"),
                .product(name: "SignInMiddleware", package: "Middleware"),
            ]),
        // The code of the libraries' documentation.
        .target(
            name: "Snippets",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "IDToken", package: "assay"), .product(name: "JOSE", package: "assay"),
                .product(name: "RemoteKeys", package: "assay"), .product(name: "TokenDiagnostics", package: "assay"),
                .product(name: "SignInMiddleware", package: "Middleware"),
            ]),
    ]
)
