extension BidirectionalCollection {
    /// The part from the first to the last element that does not match.
    package func trimming(while isTrimmed: (Element) -> Bool) -> SubSequence {
        let rest = drop(while: isTrimmed)
        guard let last = rest.lastIndex(where: { !isTrimmed($0) }) else { return rest }
        return rest[...last]
    }
}
