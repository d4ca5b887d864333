// libcrypto of OpenSSL 3 (Debian's libssl-dev), without deprecated functions.
#pragma once
#define OPENSSL_NO_DEPRECATED 1
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/prctl.h>

// A nested macro, which Swift does not import.
static inline int assayPublicKeySelection(void) { return EVP_PKEY_PUBLIC_KEY; }

// OSSL_PARAM holds pointers to what lies on the caller's stack, which Swift can't promise to keep in its place.
static inline int assayInitializeHMAC(EVP_MAC_CTX *context, const char *digest, const unsigned char *key, size_t length) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_init(context, key, length, parameters);
}

// Variadic, which Swift does not import.
static inline int assayDisableCoreDumps(void) {
    // Where a Swift toolchain is installed, the runtime's handlers print registers with the memory they point to.
    static const int fatal[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (unsigned index = 0; index < sizeof fatal / sizeof *fatal; index += 1) signal(fatal[index], SIG_DFL);
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
