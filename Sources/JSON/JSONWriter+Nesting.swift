/// Objects and arrays that close themselves. On the hot path, write the brackets one by one instead.
extension JSONWriter {
    /// Writes an object; `write` writes its members.
    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a member that is an object.
    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        object(write)
    }

    /// Writes a member that is an array; `write` writes each element.
    package mutating func array<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        self.name(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes a member that is an array of objects; `write` writes the members of each.
    package mutating func objects<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        array(name, elements) { json, element in json.object { write(&$0, element) } }
    }

    /// Writes a member that is an array of strings.
    package mutating func array(_ name: StaticString, _ strings: some Sequence<String>) {
        array(name, strings) { $0.value($1) }
    }
}
