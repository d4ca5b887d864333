#include <openssl/evp.h>
#include <openssl/pem.h>

/// Reads a public key; NULL if it can't be read.
static inline EVP_PKEY *compareReadKey(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return key;
}

/// Whether a signature with SHA-256 is valid: what no verification can do without.
static inline int compareVerify(
    EVP_PKEY *key, const unsigned char *signature, size_t signatureLength, const unsigned char *message, size_t length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int result = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestVerify(context, signature, signatureLength, message, length) == 1;
    EVP_MD_CTX_free(context);
    return result;
}
