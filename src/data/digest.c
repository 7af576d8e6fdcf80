/* SPDX-License-Identifier: MIT */
#include "data/digest.h"

#include <stdio.h>

#include "base/error.h"
#include "data/bytes.h"
#include "file/file.h"

#ifdef SPH_DOWNLOADS

#include <openssl/evp.h>

int digest_begin(struct digest *out)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    out->context = context;
    if (context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1)
        return 0;
    digest_free(out);
    return sph_fail(SPH_EMEMORY, "out of memory: a digest");
}

int digest_add(struct digest *digest, const void *bytes, size_t length)
{
    return EVP_DigestUpdate(digest->context, bytes, length) == 1
               ? 0
               : sph_fail(SPH_EMEMORY, "cannot compute SHA-256: libcrypto failed");
}

int digest_end(struct digest *digest, char hex[DIGEST_SIZE])
{
    unsigned char value[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    int done = EVP_DigestFinal_ex(digest->context, value, &length) == 1;
    digest_free(digest);
    if (!done)
        return sph_fail(SPH_EMEMORY, "cannot compute SHA-256: libcrypto failed");
    for (unsigned i = 0; i < length && 2 * i + 2 < DIGEST_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", value[i]);
    return 0;
}

void digest_free(struct digest *digest)
{
    EVP_MD_CTX_free(digest->context);
    digest->context = NULL;
}

#else

int digest_begin(struct digest *out)
{
    out->context = NULL;
    return sph_fail(SPH_EIO,
                    "this build cannot download or verify files; build it with libcurl and libcrypto");
}

int digest_add(struct digest *digest, const void *bytes, size_t length)
{
    (void)digest, (void)bytes, (void)length;
    return SPH_EIO;
}

int digest_end(struct digest *digest, char hex[DIGEST_SIZE])
{
    (void)digest, (void)hex;
    return SPH_EIO;
}

void digest_free(struct digest *digest)
{
    digest->context = NULL;
}

#endif

int digest_of(char hex[DIGEST_SIZE], const void *bytes, size_t length)
{
    struct digest digest;
    int err = digest_begin(&digest);
    if (!err && !(err = digest_add(&digest, bytes, length)))
        err = digest_end(&digest, hex);
    digest_free(&digest);
    return err;
}

int digest_of_file(char hex[DIGEST_SIZE], const char *path, int unpacked)
{
    struct data_bytes bytes = {0};
    int err = unpacked ? data_bytes_read(&bytes, path) : file_map(&bytes.map, path);
    if (err < 0)
        return err;
    err = unpacked ? digest_of(hex, bytes.data, bytes.length)
                   : digest_of(hex, bytes.map.data, bytes.map.length);
    data_bytes_free(&bytes);
    return err;
}
