import Foundation

/// The results for a source of test vectors. Printed, and written to the directory in `ASSAY_RESULTS` for the results
/// page.
struct VectorResults: Codable {
    let source: String
    let cases: Int
    /// Labeled valid but rejected here on purpose. The test's own list says which and why.
    var stricter = 0
    /// Labeled invalid but accepted here on purpose.
    var laxer = 0

    func record() throws {
        print("\(source), COUNT: \(cases) cases, \(stricter) stricter, \(laxer) laxer")
        guard let directory = ProcessInfo.processInfo.environment["ASSAY_RESULTS"] else { return }
        let folder = URL(filePath: directory).appending(path: "vectors")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let name = source.map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined()
        try JSONEncoder().encode(self).write(to: folder.appending(path: name + ".json"))
    }
}
