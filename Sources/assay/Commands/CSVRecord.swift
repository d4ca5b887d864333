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
