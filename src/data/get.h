/* SPDX-License-Identifier: MIT
 *
 * What sph_data_get and sph_data_verify share. */
#ifndef SPH_DATA_GET_H
#define SPH_DATA_GET_H

#define GET_SUMS "SHA256SUMS" /* of the files of an archive, in the folder they were unpacked into */

/* unpack.c: the files of an archive into a folder, and GET_SUMS with their digests. They must lie in one folder
 * of the archive, whose name is left away: anything else, a path that leads elsewhere, a link, is refused. */
int unpack_into(const char *folder, const char *archive);

#endif
