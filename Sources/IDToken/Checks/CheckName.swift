/// The name of a check, as explanations of a verification give it. Each check's file has its own.
public struct CheckName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    @inline(__always)
    package init(_ rawValue: String) { self.rawValue = rawValue }
}
