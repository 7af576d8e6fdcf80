/* SPDX-License-Identifier: MIT */
#include "job/pictures.h"

#include "base/error.h"
#include "rows/data.h"

int pictures_check(const struct sph_job *job, const sph_data *data)
{
    const struct job_options *o = &job->options;
    const char *source = o->data ? o->data : "the array";
    if (o->augment > SPH_AUGMENT_NONE && !data_is_images(data))
        return sph_fail_key(SPH_EARG, "augment", "%s is a table, and only images can be augmented", source);
    if (o->augment > SPH_AUGMENT_FLIP && !data->pictures)
        return sph_fail_key(SPH_EARG, "augment",
                            "%s holds images of one size; %s is for folders of pictures, flip for these",
                            source, sph_word(SPH_WORDS_AUGMENT, o->augment)->word);
    /* an experiment that was written down names the defaults of these whatever the data */
    int decodes = job->given[OPTION_DECODE] && (o->decode != SPH_DECODE_EXACT || job->named[OPTION_DECODE]);
    enum option_id of_folder = job->given[OPTION_SIZE]                          ? OPTION_SIZE
                               : job->given[OPTION_EVAL_SIDE]                   ? OPTION_EVAL_SIDE
                               : job->given[OPTION_WORKERS]                     ? OPTION_WORKERS
                               : job->given[OPTION_SKIP_BAD] && o->skip_bad > 0 ? OPTION_SKIP_BAD
                               : decodes                                        ? OPTION_DECODE
                                                                                : OPTION_COUNT;
    if (!data->pictures && of_folder != OPTION_COUNT)
        return sph_fail_key(SPH_EARG, option_key(of_folder), "%s is no folder of pictures", source);
    if (data->pictures && decodes && o->decode != (int)data->decode)
        return sph_fail_key(SPH_EARG, "decode", "%s was packed with --decode %s; leave this option out",
                            source, sph_word(SPH_WORDS_DECODE, (int)data->decode)->word);
    if (o->gray > 0 && !data_is_images(data))
        return sph_fail_key(SPH_EARG, "gray", "%s is a table, and only images have colours", source);
    return 0;
}

void pictures_settle(struct sph_job *job, const sph_data *data)
{
    if (data_is_images(data) && job->options.augment < 0)
        options_set_word(job, OPTION_AUGMENT, data->pictures ? SPH_AUGMENT_CROP : SPH_AUGMENT_FLIP);
    if (!data_is_images(data))
        options_unset(job, OPTION_GRAY);
    if (data->pictures) {
        options_set_size(job, OPTION_SIZE, data->height);
        options_set_word(job, OPTION_DECODE, (int)data->decode);
    } else {
        options_unset(job, OPTION_SKIP_BAD);
        options_unset(job, OPTION_DECODE);
    }
}
