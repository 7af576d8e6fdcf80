/* SPDX-License-Identifier: MIT */
#include "data/fetch.h"

#include "base/error.h"

#ifdef SPH_DOWNLOADS

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A server that sends less than SLOWEST bytes a second for so long is given up. */
enum { CONNECT_SECONDS = 30, SILENT_SECONDS = 60, SLOWEST = 100, REDIRECTIONS = 5, RANGE_REFUSED = 416 };

static long silent_seconds(void)
{
    size_t seconds;
    const char *text = getenv("SPHERELU_DOWNLOAD_SECONDS");
    return text && text_to_size(text, &seconds) && seconds > 0 && seconds < 1000000 ? (long)seconds
                                                                                    : SILENT_SECONDS;
}

/* What is used of libcurl: a program that downloads nothing does not load it, nor the thirty libraries behind it. */
struct curl {
    void *library;
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_easy_init) init;
    __typeof__(&curl_easy_setopt) set;
    __typeof__(&curl_easy_perform) perform;
    __typeof__(&curl_easy_getinfo) info;
    __typeof__(&curl_easy_strerror) reason;
    __typeof__(&curl_easy_cleanup) cleanup;
};

/* A function out of the library; ISO C knows no cast from void * to it. */
static int find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static int load(struct curl *out)
{
    void *library = out->library = dlopen(SPH_DOWNLOADS, RTLD_NOW | RTLD_LOCAL);
    if (library && find(library, "curl_global_init", &out->global_init) &&
        find(library, "curl_easy_init", &out->init) && find(library, "curl_easy_setopt", &out->set) &&
        find(library, "curl_easy_perform", &out->perform) && find(library, "curl_easy_getinfo", &out->info) &&
        find(library, "curl_easy_strerror", &out->reason) &&
        find(library, "curl_easy_cleanup", &out->cleanup) && !out->global_init(CURL_GLOBAL_DEFAULT))
        return 0;
    return sph_fail_at(SPH_EIO, SPH_DOWNLOADS, "cannot be loaded, so nothing can be downloaded");
}

struct transfer {
    const struct fetch *fetch;
    int err;   /* of take, or 1: see said so */
    int taken; /* take was called            */
};

static size_t take(char *bytes, size_t size, size_t count, void *user)
{
    struct transfer *transfer = user;
    transfer->taken = 1;
    transfer->err = transfer->fetch->take(transfer->fetch->self, bytes, size * count);
    return transfer->err < 0 ? 0 : size * count;
}

static int see(void *user, curl_off_t all, curl_off_t done, curl_off_t upload, curl_off_t uploaded)
{
    struct transfer *transfer = user;
    (void)upload, (void)uploaded;
    if (!transfer->fetch->see || transfer->fetch->see(transfer->fetch->self, (double)done, (double)all) <= 0)
        return 0;
    return transfer->err = 1;
}

static void set_up(const struct curl *curl, CURL *handle, struct transfer *transfer, char *words)
{
    const struct fetch *fetch = transfer->fetch;
    curl->set(handle, CURLOPT_URL, fetch->url);
    curl->set(handle, CURLOPT_WRITEFUNCTION, take);
    curl->set(handle, CURLOPT_WRITEDATA, transfer);
    curl->set(handle, CURLOPT_XFERINFOFUNCTION, see);
    curl->set(handle, CURLOPT_XFERINFODATA, transfer);
    curl->set(handle, CURLOPT_NOPROGRESS, 0L);
    curl->set(handle, CURLOPT_FAILONERROR, 1L);
    curl->set(handle, CURLOPT_FOLLOWLOCATION, 1L);
    curl->set(handle, CURLOPT_MAXREDIRS, (long)REDIRECTIONS);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl->set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->set(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl->set(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl->set(handle, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl->set(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl->set(handle, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST);
    curl->set(handle, CURLOPT_LOW_SPEED_TIME, silent_seconds());
    curl->set(handle, CURLOPT_NOSIGNAL, 1L);
    curl->set(handle, CURLOPT_ERRORBUFFER, words);
    curl->set(handle, CURLOPT_USERAGENT, "spherelu/" SPH_VERSION);
    curl->set(handle, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)fetch->from);
}

int fetch_url(enum fetch_end *end, const struct fetch *fetch)
{
    struct curl curl = {0};
    struct transfer transfer = {.fetch = fetch};
    char words[CURL_ERROR_SIZE] = "";
    long code = 0;
    *end = FETCH_WHOLE;
    int err = load(&curl);
    CURL *handle = err ? NULL : curl.init();
    if (!err && !handle)
        err = sph_fail(SPH_EMEMORY, "out of memory: a download");
    if (!err) {
        set_up(&curl, handle, &transfer, words);
        CURLcode status = curl.perform(handle);
        curl.info(handle, CURLINFO_RESPONSE_CODE, &code);
        if (transfer.err)
            err = transfer.err;
        else if (fetch->from && !transfer.taken && (status == CURLE_RANGE_ERROR || code == RANGE_REFUSED))
            *end = FETCH_NOT_FROM_THERE;
        else if (status != CURLE_OK)
            err = sph_fail_at(SPH_EIO, fetch->url, "cannot be downloaded: %s",
                              *words ? words : curl.reason(status));
        curl.cleanup(handle);
    }
    /* The library stays loaded: what stands behind it does not take being unloaded. */
    return err;
}

#else

int fetch_url(enum fetch_end *end, const struct fetch *fetch)
{
    (void)end;
    return sph_fail_at(SPH_EIO, fetch->url,
                       "this build cannot download files; build it with libcurl and libcrypto");
}

#endif
