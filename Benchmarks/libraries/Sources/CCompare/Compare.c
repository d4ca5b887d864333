#include "CCompare.h"

#include <openssl/pem.h>
#include <stdatomic.h>

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
