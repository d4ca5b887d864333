import Foundation

/// What a source of vectors came to, once every case of it has been judged: printed, and written to the directory that
/// `ASSAY_RESULTS` names, for the page of results.
struct VectorResults: Codable {
    let source: String
    let cases: Int
    /// Refused here on purpose though labelled good: the test's own list says which, and why.
    var stricter = 0
    /// The other way round.
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
