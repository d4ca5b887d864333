#include "CCompare.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdatomic.h>
#include <stdlib.h>

EVP_PKEY *compareReadKey(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return key;
}

int compareVerify(
    EVP_PKEY *key, const unsigned char *signature, size_t signatureLength, const unsigned char *message, size_t length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int result = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestVerify(context, signature, signatureLength, message, length) == 1;
    EVP_MD_CTX_free(context);
    return result;
}

struct CompareContexts {
    EVP_MD *hash;
    EVP_MD_CTX *hashing;
    EVP_PKEY_CTX *verifying;
};

CompareContexts *compareContexts(EVP_PKEY *key) {
    CompareContexts *kept = calloc(1, sizeof *kept);
    if (kept == NULL) return NULL;
    kept->hash = EVP_MD_fetch(NULL, "SHA256", NULL);
    kept->hashing = EVP_MD_CTX_new();
    kept->verifying = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (kept->hash != NULL && kept->hashing != NULL && EVP_PKEY_verify_init(kept->verifying) == 1
        && (!EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_CTX_set_rsa_padding(kept->verifying, RSA_PKCS1_PADDING) == 1)
        && EVP_PKEY_CTX_set_signature_md(kept->verifying, kept->hash) == 1)
        return kept;
    compareFree(kept);
    return NULL;
}

void compareFree(CompareContexts *kept) {
    EVP_PKEY_CTX_free(kept->verifying);
    EVP_MD_CTX_free(kept->hashing);
    EVP_MD_free(kept->hash);
    free(kept);
}

int compareVerifyWith(
    CompareContexts *kept, const unsigned char *signature, size_t signatureLength, const unsigned char *message,
    size_t length) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    return EVP_DigestInit_ex2(kept->hashing, kept->hash, NULL) == 1
        && EVP_DigestUpdate(kept->hashing, message, length) == 1
        && EVP_DigestFinal_ex(kept->hashing, digest, &size) == 1
        && EVP_PKEY_verify(kept->verifying, signature, signatureLength, digest, size) == 1;
}

// glibc's allocator, with a counter. Not an atomic addition: it would cost more than the call, and one thread works at a time.
static _Atomic long calls;

static void count(void) {
    atomic_store_explicit(&calls, atomic_load_explicit(&calls, memory_order_relaxed) + 1, memory_order_relaxed);
}

long compareAllocations(void) { return atomic_load_explicit(&calls, memory_order_relaxed); }

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count();
    return __libc_realloc(old, size);
}
