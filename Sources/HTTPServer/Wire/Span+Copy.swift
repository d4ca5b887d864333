extension Span<UInt8> {
    /// Some of the bytes, in memory of their own.
    func copied(_ range: some RangeExpression<Int>) -> [UInt8] {
        unsafe extracting(range.relative(to: indices)).withUnsafeBufferPointer { unsafe Array($0) }
    }
}
