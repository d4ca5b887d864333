private import COpenSSL

/// Keeps the kernel from writing this process's memory to a core dump, and other processes of the same user from
/// reading it. A crash prints no backtrace either: Swift's shows the memory that registers point to.
///
/// The owner of the process calls it before it reads the first secret from a file.
///
/// - Returns: whether the kernel did so.
package func disableCoreDumps() -> Bool { assayDisableCoreDumps() == 0 }
