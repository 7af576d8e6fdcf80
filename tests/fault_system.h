/* SPDX-License-Identifier: MIT
 *
 * Writes, syncs and renames that fail on demand, or at which the process dies; a file system without locks; opens that are watched; folders that cannot be
 * listed. unit_tests is linked with --wrap for these calls and takes every one that the library makes. */
#ifndef TESTS_FAULT_SYSTEM_H
#define TESTS_FAULT_SYSTEM_H

#include <dirent.h>
#include <sys/types.h>

enum action { FAIL, KILL_BEFORE, KILL_AFTER };

extern struct sys_faults {
    int calls, at; /* the call that misbehaves, from 1; 0: none */
    enum action action;
    size_t piece;                                  /* longest write; 0: no limit */
    int interrupted;                               /* every other write and sync is */
    void (*opens)(const char *path);               /* is called before each open; NULL: nothing is */
    int no_locks;                                  /* the errno of each lock */
    enum { LISTED, NOT_OPENED, NOT_READ } listing; /* what becomes of folders */
} sys;

/* Nothing else misbehaves. */
void sys_plan(int at, enum action action);

#endif
