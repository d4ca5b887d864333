extension String {
    /// This text with spaces behind it, to a width in characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}
