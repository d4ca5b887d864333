internal import Glibc

/// The CPU time that this thread spends on `work`, in nanoseconds, so that other load on the machine does not count.
/// The minimum of five runs, to exclude cache misses and page faults.
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
