#if canImport(Glibc)
import Glibc
#endif

/// Writes a line for people to standard error, beside what a command prints for programs.
func printToStandardError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // Nobody is to be told if it fails.
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
