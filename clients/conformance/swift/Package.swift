// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "driver",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "assay-client")],
    targets: [.executableTarget(name: "Driver", dependencies: [.product(name: "AssayClient", package: "assay-client")])]
)
