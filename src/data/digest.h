/* SPDX-License-Identifier: MIT
 *
 * SHA-256, by libcrypto. */
#ifndef SPH_DATA_DIGEST_H
#define SPH_DATA_DIGEST_H

#include <stddef.h>

enum { DIGEST_SIZE = 65 }; /* 64 digits, a to f in lower case, and a NUL */

struct digest {
    void *context; /* EVP_MD_CTX */
};

int digest_begin(struct digest *out);
int digest_add(struct digest *digest, const void *bytes, size_t length);
int digest_end(struct digest *digest, char hex[DIGEST_SIZE]); /* of all so far; frees, also where it fails */
void digest_free(struct digest *digest);                      /* twice, or of zeroes, is fine */

int digest_of(char hex[DIGEST_SIZE], const void *bytes, size_t length);

/* The same for a file, or, where unpacked is set, for what it holds. */
int digest_of_file(char hex[DIGEST_SIZE], const char *path, int unpacked);

#endif
