// swift-tools-version: 6.2
import PackageDescription

// A middleware for Hummingbird that verifies the ID Token of each request. Tests/Server uses it.
let package = Package(
    name: "sign-in-middleware",
    products: [.library(name: "SignInMiddleware", targets: ["SignInMiddleware"])],
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .target(
            name: "SignInMiddleware",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "IDToken", package: "assay"), .product(name: "RemoteKeys", package: "assay"),
            ])
    ]
)
