/* SPDX-License-Identifier: MIT
 *
 * spherelu: ReLU networks whose units have a direction, an offset and a scale. This header includes the whole API;
 * spherelu/base.h explains its conventions. */
#ifndef SPHERELU_H
#define SPHERELU_H

#include "spherelu/compare.h"
#include "spherelu/core.h"
#include "spherelu/data.h"
#include "spherelu/job.h"
#include "spherelu/store.h"

#endif
