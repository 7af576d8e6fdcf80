/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: a config.yaml that is read is written and read again as the same. */
#include "fuzz.h"
#include "base/memory.h"
#include "job/config.h"
#include "job/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct sph_job *job = NULL, *back = NULL;
    char *text = NULL, *again = NULL;
    if (job_new(&job, 0) < 0 || job_new(&back, 0) < 0)
        abort();
    if (config_read(&job->request.asked, fuzz_file("config.yaml", bytes, length)) == 0 &&
        config_write(&job->request.asked, &text) == 0) {
        if (config_read(&back->request.asked, fuzz_file("again.yaml", text, strlen(text))) < 0 ||
            config_write(&back->request.asked, &again) < 0 || strcmp(text, again) != 0)
            abort();
    }
    mem_free(text);
    mem_free(again);
    sph_job_free(job);
    sph_job_free(back);
    return 0;
}
