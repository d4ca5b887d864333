// swift-tools-version: 6.2
import PackageDescription

// A Hummingbird server that verifies ID Tokens in a middleware, with keys that it fetches itself. scripts/client-package
// builds it, and runs it through an outage of the provider.
let package = Package(
    name: "server",
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .target(
            name: "SignInMiddleware",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "IDToken", package: "assay"),
                .product(name: "RemoteKeys", package: "assay"),
            ]),
        .executableTarget(name: "Server", dependencies: ["SignInMiddleware"]),
    ]
)
