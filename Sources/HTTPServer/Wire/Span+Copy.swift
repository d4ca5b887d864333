extension Span<UInt8> {
    /// A copy of some of the bytes.
    func copied(_ range: some RangeExpression<Int>) -> [UInt8] {
        unsafe extracting(range.relative(to: indices)).withUnsafeBufferPointer { unsafe Array($0) }
    }
}
