/* SPDX-License-Identifier: MIT
 *
 * test_experiment_faults with every allocation; puts __wrap_file_sys_write, __wrap_file_sys_fsync and
 * __wrap_file_sys_rename in place of the system's. */
#define FAULTS_STRIDE 1
#include "test_experiment_faults.c"
