package import Host

/// The numbers of a key store's rules.
package struct KeyRules: Sendable {
    /// Keys are kept this long whatever the provider says: Apple's headers have said not to keep them at all.
    package var minimumLifetime = Interval.seconds(5 * 60)
    /// And no longer than this.
    package var maximumLifetime = Interval.seconds(24 * 3600)
    /// When keys are fetched anew, as a part of their lifetime: ahead of its end, and not in step with the other instances
    /// that fetched at the same moment.
    package var refreshAhead = 0.75..<0.9
    /// Where keys are that cost nothing to look at, they are looked at this often, whatever their lifetime.
    package var pollInterval: Interval?
    /// How long keys serve past their lifetime while the provider can't be reached.
    package var staleIfError = Interval.seconds(24 * 3600)
    /// How long at most a key serves that the provider's last answer left out.
    var graceForOmittedKeys = Interval.seconds(3600)
    /// Fetches that unknown `kid`s, and bad signatures by known ones, may cause within ``unknownKeyWindow``.
    package var unknownKeyFetches = 2
    package var unknownKeyWindow = Interval.seconds(30)
    /// How long a `kid` that was not found is not looked for again, nor one whose key a whole answer has confirmed.
    package var missingKeyMemory = Interval.seconds(30)
    package var rememberedMissingKeys = 1024
    /// Operators cause at most one fetch in this time; those who ask sooner share the next one.
    var refreshInterval = Interval.seconds(1)
    package var minimumBackoff = Interval(milliseconds: 500)
    package var firstBackoff = Interval.seconds(1)
    package var maximumBackoff = Interval.seconds(5 * 60)
    /// Whether there are other keys to fall back on while the provider has given none.
    package var hasFallback = false

    package init() {}

    /// How long keys are kept without looking for newer ones, where the provider says `stated`, or nothing.
    func lifetime(_ stated: Interval?) -> Interval {
        min(max(stated ?? minimumLifetime, minimumLifetime), maximumLifetime)
    }

    /// For keys in a file of the operator's.
    package static var file: KeyRules {
        var rules = KeyRules()
        rules.minimumLifetime = .seconds(60)
        rules.maximumLifetime = .seconds(60)
        rules.pollInterval = .seconds(2)
        rules.maximumBackoff = .seconds(2)
        return rules
    }
}
