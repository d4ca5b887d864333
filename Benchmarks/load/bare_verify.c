// The floor: what OpenSSL itself needs for one signature check, in a loop on one core.
//
// usage: bare_verify KEY.pem TOKENS RS256|ES256 SECONDS
// TOKENS has one on each line. Prints the CPU microseconds of one check: SHA-256 and EVP_PKEY_verify on a context made
// once, the cheapest way that the EVP interface has. ECDSA signatures are given in DER, as that interface wants them.
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct token { unsigned char *input; size_t input_length; unsigned char signature[512]; size_t signature_length; };

static double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static size_t decode(const char *text, size_t length, unsigned char *output) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0, pending = 0;
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        pending = pending << 6 | (unsigned)(strchr(alphabet, text[i]) - alphabet);
        bits += 6;
        if (bits >= 8) output[count++] = (unsigned char)(pending >> (bits -= 8));
    }
    return count;
}

static size_t to_der(const unsigned char *fixed, size_t length, unsigned char *der) {
    ECDSA_SIG *signature = ECDSA_SIG_new();
    int half = (int)length / 2;
    ECDSA_SIG_set0(signature, BN_bin2bn(fixed, half, NULL), BN_bin2bn(fixed + half, half, NULL));
    unsigned char *end = der;
    size_t der_length = (size_t)i2d_ECDSA_SIG(signature, &end);
    ECDSA_SIG_free(signature);
    return der_length;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    FILE *file = fopen(argv[1], "r");
    EVP_PKEY *key = file ? PEM_read_PUBKEY(file, NULL, NULL, NULL) : NULL;
    if (!key) return 2;
    static struct token tokens[1000];
    int count = 0;
    static char line[32768];
    for (file = fopen(argv[2], "r"); file && count < 1000 && fgets(line, sizeof line, file); count++) {
        line[strcspn(line, "\r\n")] = 0;
        char *stop = strrchr(line, '.');
        unsigned char raw[512];
        size_t raw_length = decode(stop + 1, strlen(stop + 1), raw);
        struct token *token = &tokens[count];
        token->input_length = (size_t)(stop - line);
        token->input = (unsigned char *)strndup(line, token->input_length);
        if (!strcmp(argv[3], "ES256")) {
            token->signature_length = to_der(raw, raw_length, token->signature);
        } else {
            memcpy(token->signature, raw, token->signature_length = raw_length);
        }
    }
    EVP_MD *sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *digests = EVP_MD_CTX_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (EVP_PKEY_verify_init(context) != 1 || EVP_PKEY_CTX_set_signature_md(context, sha256) != 1) return 2;
    if (!strcmp(argv[3], "RS256") && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) != 1) return 2;
    double start = cpu_seconds(), end = start + atof(argv[4]);
    long checks = 0;
    while (cpu_seconds() < end) {
        for (int i = 0; i < count; i++, checks++) {
            unsigned char hash[32];
            if (EVP_DigestInit_ex2(digests, sha256, NULL) != 1
                || EVP_DigestUpdate(digests, tokens[i].input, tokens[i].input_length) != 1
                || EVP_DigestFinal_ex(digests, hash, NULL) != 1
                || EVP_PKEY_verify(context, tokens[i].signature, tokens[i].signature_length, hash, sizeof hash) != 1)
                return 1;
        }
    }
    printf("%.3f\n", (cpu_seconds() - start) / (double)checks * 1e6);
    return 0;
}
