/* SPDX-License-Identifier: MIT
 *
 * Claims: several processes, also on several machines, divide numbered pieces of work in one folder. A
 * claim is a lock on a byte of the file DIR/.claims. The system releases it when the process ends, also
 * after a crash, so a claim is never stale and needs no clock, host name or process number. Forked children
 * share the claims of their parent, which last until all of them have ended. */
#ifndef SPH_FILE_CLAIMS_H
#define SPH_FILE_CLAIMS_H

#include <stddef.h>

struct claims {
    char *path;
    int fd; /* -1: the file system has no locks */
};
#define CLAIMS_NONE ((struct claims){.fd = -1})

enum claims_kind {
    CLAIMS_ALONE,  /* refused beside anybody else; without locks it holds nothing */
    CLAIMS_SHARED, /* beside others of the same kind; fails without locks         */
};

/* 0; 1: others are at work in the folder; or a failure. *others (may be NULL) then says of which kind they are. */
int claims_begin(struct claims *out, const char *dir, enum claims_kind kind, enum claims_kind *others);

/* Gives all back. The last one to leave removes the file. */
void claims_end(struct claims *claims);

/* 1: nobody else has this number until claims_give, and *mark is what was said of it last, 0: nothing. 0: somebody has it. */
int claims_take(const struct claims *claims, size_t number, char *mark);
int claims_give(const struct claims *claims, size_t number, char mark); /* mark 0: as it was */

#endif
