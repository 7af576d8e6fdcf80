/* SPDX-License-Identifier: MIT
 *
 * Downloads with libcurl, which is loaded when needed. Only http and https, at most five redirects. A
 * download is aborted if the server sends nothing for 60 seconds, or for SPHERELU_DOWNLOAD_SECONDS. */
#ifndef SPH_DATA_FETCH_H
#define SPH_DATA_FETCH_H

#include <stddef.h>
#include <stdint.h>

struct fetch {
    const char *url;
    uint64_t from; /* bytes that are there already: the rest is asked for */
    void *self;
    int (*take)(void *self, const void *bytes, size_t length); /* a negative code ends it, and is returned  */
    int (*see)(void *self, double done, double all);           /* now and then, of this call; above 0: stop;
                                                                  all 0: not known                          */
};

enum fetch_end { FETCH_WHOLE, FETCH_NOT_FROM_THERE }; /* the server gives no such part, nothing was taken */

/* 1: see stopped it. A failure names the address and what the server or the network said. */
int fetch_url(enum fetch_end *end, const struct fetch *fetch);

#endif
