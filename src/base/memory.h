/* SPDX-License-Identifier: MIT
 *
 * All allocations of the library. Memory is zeroed and aligned to a cache line. A failure sets the error
 * message, so callers return SPH_EMEMORY. Tests replace mem_get, mem_get_large and mem_resize at link time
 * to make each call fail once. */
#ifndef SPH_BASE_MEMORY_H
#define SPH_BASE_MEMORY_H

#include <stddef.h>

enum { MEM_ALIGN = 64 };

/* count * size bytes, zeroed, or NULL with the message set (count * size overflowing counts as out of
 * memory). A count of 0 gives a valid pointer. Free with mem_free. */
void *mem_get(size_t count, size_t size);

/* The same, not zeroed, for arrays of many megabytes that are written before they are read: each page is touched once. */
void *mem_get_large(size_t count, size_t size);

/* A larger copy of memory: old_count of its elements are kept, the rest is zero; memory itself is freed.
 * NULL on failure, memory is then untouched. memory may be NULL. */
void *mem_resize(void *memory, size_t old_count, size_t new_count, size_t size);

/* 1: so many bytes more may be held (sph_set_max_memory); 0 with the message set. mem_get asks by itself; who
 * leaves an allocation to another library asks for it. */
int mem_allows(size_t bytes);

/* The tally of what is held, kept by mem_get and mem_free. */
void mem_count(size_t taken, size_t given);
size_t mem_held(void);

void mem_free(void *memory);
char **mem_copy_texts(char *const *texts, size_t count); /* freed with mem_free_texts */
void mem_free_texts(char **texts, size_t count);         /* each of them, and the array; NULL is fine */

/* A copy of count elements; of text; of its first length bytes. */
void *mem_copy(const void *memory, size_t count, size_t size);
char *mem_text(const char *text);
char *mem_text_of(const char *text, size_t length);

/* printf into a new string. */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory that goes together: mem_own gives what mem_get would and remembers it; `failed` stays once one of them did. So
 * ask for all, and look once. Empty: {0}. */
struct mem_owned {
    void **blocks;
    size_t count, capacity;
    int failed;
};
void *mem_own(struct mem_owned *owned, size_t count, size_t size);
void mem_free_owned(struct mem_owned *owned);

/* Appends one element to a growing array: `if (!mem_reserve((void **)&list, &capacity, count + 1, sizeof
 * *list))` makes room for count elements. Returns 0 on failure. */
int mem_reserve(void **list, size_t *capacity, size_t count, size_t size);

#endif
