/* SPDX-License-Identifier: MIT
 *
 * spherelu: train ReLU networks in the coordinates their features live in. The whole API, by subject;
 * spherelu/base.h has its conventions. */
#ifndef SPHERELU_H
#define SPHERELU_H

#include "spherelu/compare.h"
#include "spherelu/core.h"
#include "spherelu/data.h"
#include "spherelu/job.h"
#include "spherelu/store.h"

#endif
