#if canImport(Glibc)
import Glibc
#endif

/// Writes a human-readable line to standard error, because standard output is for programs.
func printToStandardError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // There is nowhere to report a failure.
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
