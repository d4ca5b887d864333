// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "assay-client",
    platforms: [.macOS(.v13)],
    products: [.library(name: "AssayClient", targets: ["AssayClient"])],
    targets: [.target(name: "AssayClient")]
)
