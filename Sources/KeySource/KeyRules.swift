package import Clocks

/// The numbers of a key store's rules.
package struct KeyRules: Sendable {
    /// Keys are kept this long whatever the provider says: Apple's headers have said not to keep them at all.
    package var minimumLifetime = Interval.seconds(5 * 60)
    /// And no longer than this.
    package var maximumLifetime = Interval.seconds(24 * 3600)
    /// How long keys serve past their lifetime while the provider can't be reached.
    package var staleFor = Interval.seconds(24 * 3600)
    /// Fetches that unknown `kid`s may cause within ``unknownKeyWindow``.
    package var unknownKeyFetches = 2
    package var unknownKeyWindow = Interval.seconds(30)
    /// How long a `kid` that was not found is not looked for again.
    package var missingKeyMemory = Interval.seconds(30)
    package var rememberedMissingKeys = 1024
    package var minimumBackoff = Interval(milliseconds: 500)
    package var firstBackoff = Interval.seconds(1)
    package var maximumBackoff = Interval.seconds(5 * 60)

    package init() {}
}
