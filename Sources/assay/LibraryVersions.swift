import OpenSSL

/// The C library that decides about signatures, as it is at run time.
func libraryVersions() -> String { openSSLVersion() }
