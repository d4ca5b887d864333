@testable import Service

extension Counter {
    /// The count for a label.
    subscript(label: Label) -> Int { first { $0.label == label }?.count ?? 0 }
}
