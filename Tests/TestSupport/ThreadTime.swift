internal import Glibc

/// The processor time that this thread spends on `work`, in nanoseconds: a machine that is busy with something else adds
/// nothing to it. The least of five, for what caches and page faults add.
package func threadNanoseconds<Failure: Error>(of work: () throws(Failure) -> Void) throws(Failure) -> Int {
    var least = Int.max
    for _ in 0..<5 {
        let start = threadNanoseconds()
        try work()
        least = min(least, threadNanoseconds() - start)
    }
    return least
}

private func threadNanoseconds() -> Int {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { preconditionFailure("no thread clock") }
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
