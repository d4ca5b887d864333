// The ways to check a signature with OpenSSL 3, side by side: the grounds for the one in SignatureChecker.swift.
//
//     gcc -O2 -Wall -Wextra -o openssl_patterns openssl_patterns.c -lcrypto
//
//     openssl_patterns --list | NAME ITERATIONS | --time     as of micro; measure.py reads both
//
// Each is measured for RS256 (2048 bits) and ES256, over 700 octets, which is what a token of Apple's has before its
// signature. Keys (SubjectPublicKeyInfo) and signatures were made once; nobody has the private halves.
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char rsa_key[] =
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA9kRWBGXpAB+7KdGpdXgOHJwYUFnbthwlk4+8qSMhObWuZUQnuF87Z334"
    "cw9UkC5KoDrmt+4zS8fXH5i+BLuxserYC9gzgyo2XzXDosedT/j7rlq7Bvz2OTxkUf+yhYJhEHiOvq+PjxViTuSRcD3KZa7E9Ai6"
    "cq1fq0BvHk7NcG1Zlv/3fPvV8/SoKBXBEtHntN/Ws3hMLlqCjnPdtzOc4nV6G0mYaOUsJgl4Wamdo872vv93lmazvaYsbf2cXgls"
    "2/IXhCcgopzYQyZkxhmCS6PGy2yHdyyQHb5p2XbfQEKygZgiaU1fWje74PL7zGZfIKwXvM7cbGRc80j4geVYswIDAQAB";
static const char rsa_signature[] =
    "blSGpLJ2hxToysgMA3IJKoMXyRdsPKobD+gbQDqVeD5d68ZV5y+48INkPGFqy/LN1aIq6cN0Vf3kLHabj1scOv7n0JbJGc41fYtY"
    "kdSeKkF4TriAiTEowfw+ej2EzbxJBmPd7HXc9rI/fwqdssqYUjAEZrb+m2zy2L9lUEAa4E8ZQb6OahPYDkb7yX1wsIHsTTmFZ1Js"
    "8h5OKex0LXnxxpvmxkBIFvHHBxorACRHkgAKj1kFYTRqwXQ4cqrsFZt8dflInPSUVoNmrfB/Ni0vIw01Zomfeb/UpjGSfFElv9Dc"
    "AOhhxljBvXr1TZFFZfFz9menFL3ago8pRQRyeQ3+kw==";
static const char ec_key[] =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfSeCJojZyeCuC3GnmcqoICcZmARP9UovkTCkMHk5J1xfWQnqX02P0ziLVcHIlzam"
    "JUqKZaLNWQPoputgpD1P0w==";
static const char ec_signature[] =
    "MEUCIBTvVR/snedecDP0XWES8MRZwZ6M9OY6wUHvrcrqkr/ZAiEAicupYGfXrk5TwWnP7OQBuVSNnyto0vzJROLX6QdO7jQ=";

// What a pattern works with; whatever it may keep from one call to the next is made before the first.
struct input {
    unsigned char message[700], signature[258];
    size_t signature_length;
    EVP_PKEY *key;
    EVP_MD *sha256;
    EVP_MD_CTX *context, *template;
    EVP_PKEY_CTX *key_context;
};

// Everything anew: EVP_sha256() stands for an algorithm that is looked up by name at each use.
static bool implicit_fetch(struct input *input) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool valid = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, input->key) == 1
        && EVP_DigestVerify(
            context, input->signature, input->signature_length, input->message, sizeof input->message) == 1;
    EVP_MD_CTX_free(context);
    return valid;
}

// An algorithm fetched once and a context made once, set up for each call.
static bool fetched_once(struct input *input) {
    return EVP_DigestVerifyInit(input->context, NULL, input->sha256, NULL, input->key) == 1
        && EVP_DigestVerify(
            input->context, input->signature, input->signature_length, input->message, sizeof input->message) == 1;
}

// A context set up once and copied for each call.
static bool copied_context(struct input *input) {
    return EVP_MD_CTX_copy_ex(input->context, input->template) == 1
        && EVP_DigestVerify(
            input->context, input->signature, input->signature_length, input->message, sizeof input->message) == 1;
}

// The hash apart from the signature: each with a context that is set up once.
static bool apart(struct input *input) {
    unsigned char hash[32];
    return EVP_DigestInit_ex2(input->context, input->sha256, NULL) == 1
        && EVP_DigestUpdate(input->context, input->message, sizeof input->message) == 1
        && EVP_DigestFinal_ex(input->context, hash, NULL) == 1
        && EVP_PKEY_verify(input->key_context, input->signature, input->signature_length, hash, sizeof hash) == 1;
}

static const struct pattern { const char *name; bool (*check)(struct input *); } patterns[] = {
    {"implicit-fetch", implicit_fetch},
    {"fetched-once", fetched_once},
    {"copied-context", copied_context},
    {"apart", apart},
};
enum { pattern_count = sizeof patterns / sizeof *patterns };

static void demand(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "openssl_patterns: %s\n", what);
    exit(1);
}

static size_t decode(unsigned char *output, size_t capacity, const char *base64) {
    size_t characters = strlen(base64), padding = characters - strcspn(base64, "=");
    demand(characters / 4 * 3 <= capacity, "a constant is too long");
    // It writes zeros for the padding, and counts them.
    return (size_t)EVP_DecodeBlock(output, (const unsigned char *)base64, (int)characters) - padding;
}

static struct input prepare(bool is_rsa) {
    struct input input = {0};
    for (size_t i = 0; i < sizeof input.message; i++) input.message[i] = (unsigned char)('a' + i % 26);
    input.signature_length = decode(input.signature, sizeof input.signature, is_rsa ? rsa_signature : ec_signature);
    unsigned char der[512];
    const unsigned char *start = der;
    input.key = d2i_PUBKEY(NULL, &start, (long)decode(der, sizeof der, is_rsa ? rsa_key : ec_key));
    input.sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    input.context = EVP_MD_CTX_new();
    input.template = EVP_MD_CTX_new();
    input.key_context = EVP_PKEY_CTX_new_from_pkey(NULL, input.key, NULL);
    demand(
        EVP_DigestVerifyInit(input.template, NULL, input.sha256, NULL, input.key) == 1
            && EVP_PKEY_verify_init(input.key_context) == 1
            && (!is_rsa || EVP_PKEY_CTX_set_rsa_padding(input.key_context, RSA_PKCS1_PADDING) == 1)
            && EVP_PKEY_CTX_set_signature_md(input.key_context, input.sha256) == 1,
        "OpenSSL refuses its input");
    return input;
}

static void iterate(const struct pattern *pattern, struct input *input, long count) {
    while (count-- > 0) demand(pattern->check(input), "a good signature was refused");
}

// What measure.py counts; it finds it by its name.
__attribute__((noinline)) static void measured(const struct pattern *pattern, struct input *input, long count) {
    iterate(pattern, input, count);
}

// Nanoseconds of one check: the least of ten rounds.
static long nanoseconds(const struct pattern *pattern, bool is_rsa) {
    struct input input = prepare(is_rsa);
    iterate(pattern, &input, 500);
    long least = 0;
    for (int round = 0; round < 10; round++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        iterate(pattern, &input, 500);
        clock_gettime(CLOCK_MONOTONIC, &end);
        long spent = ((end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec) / 500;
        if (round == 0 || spent < least) least = spent;
    }
    return least;
}

int main(int argc, char **argv) {
    bool lists = argc == 2 && !strcmp(argv[1], "--list"), times = argc == 2 && !strcmp(argv[1], "--time");
    demand(lists || times || argc == 3, "usage: openssl_patterns --list | NAME ITERATIONS | --time");
    for (int i = 0; i < 2 * pattern_count; i++) {
        const struct pattern *pattern = &patterns[i % pattern_count];
        bool is_rsa = i < pattern_count;
        char name[64];
        snprintf(name, sizeof name, "%s-%s", is_rsa ? "RS256" : "ES256", pattern->name);
        if (lists) {
            puts(name);
        } else if (times) {
            printf("%s %ld\n", name, nanoseconds(pattern, is_rsa));
        } else if (!strcmp(argv[1], name)) {
            struct input input = prepare(is_rsa);
            iterate(pattern, &input, 5);
            measured(pattern, &input, atol(argv[2]));
            return 0;
        }
    }
    demand(lists || times, "no such pattern");
    return 0;
}
