/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C and SIGTERM: the first one lets the step finish and checkpoints be written; the second one kills. */
#ifndef SPHERELU_CLI_STOP_H
#define SPHERELU_CLI_STOP_H

void stop_catch(void);
int stop_signal(void); /* the signal that came, 0: none */

#endif
