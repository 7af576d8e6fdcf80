/* SPDX-License-Identifier: MIT
 *
 * What the whole library was built with, and can use here. */
#include <archive.h>
#include <jansson.h>
#include <string.h>

#include "compute/features.h"
#include "spherelu.h"

#ifdef SPH_DOWNLOADS
#define FEATURES_DOWNLOADS "downloads: libcurl, loaded when needed\n"
#else
#define FEATURES_DOWNLOADS "downloads: none\n"
#endif

#ifdef SPH_TURBOJPEG
#define FEATURES_JPEG "TurboJPEG"
#else
#define FEATURES_JPEG "no JPEG"
#endif

#ifdef SPH_PNG
#include <png.h>
#define FEATURES_PNG "libpng " PNG_LIBPNG_VER_STRING
#else
#define FEATURES_PNG "no PNG"
#endif

#ifdef SPH_ONNX
#include <protobuf-c/protobuf-c.h>
#define FEATURES_ONNX "onnx: protobuf-c " PROTOBUF_C_VERSION "\n"
#else
#define FEATURES_ONNX "onnx: none\n"
#endif

#define FEATURES_FILES                                                                                       \
    "archives: " ARCHIVE_VERSION_STRING "\n"                                                                 \
    "pictures: " FEATURES_JPEG ", " FEATURES_PNG "\n" FEATURES_DOWNLOADS "json: jansson " JANSSON_VERSION    \
    "\n"                                                                                                     \
    "yaml: libyaml\n" FEATURES_ONNX "figures: gnuplot, searched when needed\n"

#define FEATURES(kernels, matrices) FEATURES_BEGIN(kernels, matrices) FEATURES_FILES FEATURES_END

const char *sph_features(void)
{
    return FEATURES_CHOOSE(FEATURES);
}
