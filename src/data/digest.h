/* SPDX-License-Identifier: MIT
 *
 * SHA-256 with libcrypto. */
#ifndef SPH_DATA_DIGEST_H
#define SPH_DATA_DIGEST_H

enum { DIGEST_SIZE = 65 }; /* 64 lower-case hexadecimal digits and a NUL */

/* Of a file; unpacked: of the content of a compressed file. */
int digest_of_file(char hex[DIGEST_SIZE], const char *path, int unpacked);

#endif
