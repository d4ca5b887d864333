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

// A nested macro, which Swift does not import.
static inline int assayPublicKeySelection(void) { return EVP_PKEY_PUBLIC_KEY; }
