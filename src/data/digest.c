/* SPDX-License-Identifier: MIT */
#include "data/digest.h"

#include <stdio.h>

#include "base/error.h"
#include "data/bytes.h"
#include "file/file.h"

#ifdef SPH_DOWNLOADS
#include <openssl/evp.h>

static int digest_of(char hex[DIGEST_SIZE], const void *bytes, size_t length)
{
    unsigned char value[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(bytes, length, value, &size, EVP_sha256(), NULL) != 1)
        return sph_fail(SPH_EMEMORY, "cannot compute SHA-256: libcrypto failed");
    for (unsigned i = 0; i < size && 2 * i + 2 < DIGEST_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", value[i]);
    return 0;
}

#else

static int digest_of(char hex[DIGEST_SIZE], const void *bytes, size_t length)
{
    (void)hex, (void)bytes, (void)length;
    return sph_fail(SPH_EIO,
                    "this build cannot download or verify files; build it with libcurl and libcrypto");
}

#endif

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
