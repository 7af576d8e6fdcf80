/* SPDX-License-Identifier: MIT
 *
 * libspherelu-core: numbers only. It opens no file, starts no process and needs libm alone; oneDNN, OpenBLAS,
 * SLEEF and OpenMP make it fast where they were found. libspherelu has all of it, and more. */
#ifndef SPHERELU_CORE_H
#define SPHERELU_CORE_H

#include "spherelu/base.h"
#include "spherelu/boundary.h"
#include "spherelu/net.h"
#include "spherelu/train.h"

#endif
