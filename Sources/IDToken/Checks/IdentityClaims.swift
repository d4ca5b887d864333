extension CheckName {
    /// That an identity can be made of the claims: ``Identity`` is what this check finds.
    @inline(__always)
    public static var identity: CheckName { CheckName("identity") }
}
