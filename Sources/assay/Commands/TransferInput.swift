import Bytes
import FoundationEssentials
import Glibc

/// The users of a transfer: one per line, or a column of a CSV.
enum TransferInput {
    private static let maximumLength = 255

    /// A user, and its line in the input.
    struct User {
        /// A subject or a transfer identifier.
        let id: String
        let line: Int
    }

    /// Reads all users, without blank lines and duplicates.
    ///
    /// - Parameter path: `nil` for standard input.
    /// - Throws: ``ConfigurationError`` that names the first line that has no user.
    static func read(_ path: String?, of step: TransferStep) throws(ConfigurationError) -> [User] {
        let source = path ?? "standard input"
        let records = CSVRecord.all(in: try text(path, step)).filter { $0.fields != [""] }
        var (column, rest) = (0, records[...])
        if let named = records.first?.fields.firstIndex(where: { step.columns.contains($0.lowercased()) }) {
            (column, rest) = (named, records.dropFirst())
        }
        var users: [User] = []
        var known: Set<String> = []
        for record in rest {
            let id = record.fields.indices.contains(column) ? record.fields[column] : ""
            guard !known.contains(id) else { continue }
            if let fault = fault(record, id, hasHeader: rest.count < records.count, step) {
                throw ConfigurationError("\(source): line \(record.line): \(fault)")
            }
            known.insert(id)
            users.append(User(id: id, line: record.line))
        }
        guard !users.isEmpty else {
            throw ConfigurationError("\(source): it has no \(step.noun): one per line is expected")
        }
        return users
    }

    private static func text(_ path: String?, _ step: TransferStep) throws(ConfigurationError) -> String {
        guard let path else {
            if isatty(STDIN_FILENO) == 1 {
                printToStandardError("Type one \(step.noun) per line, and end with Ctrl-D; or use --input.")
            }
            var text = ""
            while let line = readLine(strippingNewline: false) { text += line }
            return text
        }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("\(path): it can't be read")
        }
        return String(decoding: contents, as: UTF8.self)
    }

    /// Why a record does not contain a subject or transfer identifier of Apple's; `nil` if it may. Invalid ones are
    /// never sent.
    private static func fault(_ record: CSVRecord, _ id: String, hasHeader: Bool, _ step: TransferStep) -> String? {
        if record.fields[0].hasPrefix("{") {
            return
                "it is JSON; one \(step.noun) per line is expected: jq -r '.\(step.columns[0]) // empty' extracts them from results"
        }
        if !hasHeader, record.fields.count > 1 {
            return
                "it has several columns; add a header line in which the column of \(step.noun)s is named \(step.columns[0])"
        }
        let isValid =
            (1...maximumLength).contains(id.utf8.count)
            && id.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
        return isValid
            ? nil
            : "one \(step.noun) per line is expected, such as 001234.5e7f01b2c3d4.0219: letters, digits, and . - _"
    }
}

/// A record of a CSV text (RFC 4180): a line, unless a quoted field has line breaks.
struct CSVRecord {
    /// The number of its first line, from 1.
    let line: Int
    /// The fields, without the white space around them.
    let fields: [String]

    /// The records of a text. A byte order mark, as spreadsheets write it, is skipped.
    static func all(in text: String) -> [CSVRecord] {
        var reader = Reader()
        for character in text where character != "\u{feff}" { reader.read(character) }
        reader.endRecord()
        return reader.records
    }

    private struct Reader {
        private enum State {
            case plain, quoted
            /// After a quotation mark within quotes. It ends the quoted text, unless a second one follows: then both
            /// stand for one quotation mark.
            case closing
        }

        private(set) var records: [CSVRecord] = []
        private var fields: [String] = []
        private var field = ""
        private var state = State.plain
        private var line = 1
        private var firstLine = 1

        mutating func read(_ character: Character) {
            if character.isNewline { line += 1 }
            switch (state, character) {
            case (.plain, "\"") where field.allSatisfy(\.isWhitespace):
                field = ""
                state = .quoted
            case (.quoted, "\""): state = .closing
            case (.closing, "\""):
                field.append(character)
                state = .quoted
            case (.quoted, _): field.append(character)
            case (_, ","): endField()
            case (_, _) where character.isNewline: endRecord()
            default: field.append(character)
            }
        }

        private mutating func endField() {
            fields.append(String(field.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()))
            field = ""
            state = .plain
        }

        mutating func endRecord() {
            endField()
            records.append(CSVRecord(line: firstLine, fields: fields))
            (fields, firstLine) = ([], line)
        }
    }
}
