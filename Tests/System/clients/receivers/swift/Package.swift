// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Receive",
    dependencies: [.package(path: "assay-client")],
    targets: [
        .executableTarget(name: "Receive", dependencies: [.product(name: "AssayClient", package: "assay-client")])
    ]
)
