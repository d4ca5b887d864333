import Testing

/// Checks that a text is one complete sentence, without unfilled placeholders.
func expectSentence(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(text.first?.isUppercase == true || text.first?.isLowercase == true, sourceLocation: sourceLocation)
    #expect(text.hasSuffix("."), "\(text)", sourceLocation: sourceLocation)
    #expect(
        !text.dropLast().contains(". ") && !text.contains("? ") && !text.contains("! "), "\(text)",
        sourceLocation: sourceLocation)
    for placeholder in ["\\(", "%@", "%s", "{}", "TODO", "XXX", "nil", "Optional(", "..", "  "] {
        #expect(!text.contains(placeholder), "\(text)", sourceLocation: sourceLocation)
    }
}
