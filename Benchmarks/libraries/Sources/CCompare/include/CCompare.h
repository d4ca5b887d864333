#include <openssl/evp.h>
#include <stddef.h>

/// Reads a public key; NULL if it can't be read.
EVP_PKEY *compareReadKey(const char *pem);

/// Whether a signature with SHA-256 is valid: OpenSSL's one-shot check, with a context of its own.
int compareVerify(
    EVP_PKEY *key, const unsigned char *signature, size_t signatureLength, const unsigned char *message, size_t length);

/// OpenSSL's contexts for a key and SHA-256, prepared once; for one thread.
typedef struct CompareContexts CompareContexts;

/// Prepares them; NULL if OpenSSL refuses.
CompareContexts *compareContexts(EVP_PKEY *key);
void compareFree(CompareContexts *kept);

/// Whether a signature with SHA-256 is valid: a check that makes nothing for itself.
int compareVerifyWith(
    CompareContexts *kept, const unsigned char *signature, size_t signatureLength, const unsigned char *message,
    size_t length);

/// The number of calls of the allocator in this process.
long compareAllocations(void);
