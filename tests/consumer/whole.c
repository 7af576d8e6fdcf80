/* SPDX-License-Identifier: MIT */
#include <spherelu.h>
#include <stdio.h>

int main(void)
{
    sph_data *data = NULL;
    if (sph_data_open(&data, "crescents", NULL) < 0) {
        fprintf(stderr, "%s\n", sph_error());
        return 1;
    }
    printf("%s: %zu features\n", sph_version(), sph_data_features(data));
    sph_data_free(data);
    return 0;
}
