/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C and SIGTERM: the first one lets the step finish and checkpoints be written; the second one kills. To
 * be called when there is somebody who looks for them, not before: while data are read nobody does, and the
 * system's own way of ending is right. */
#ifndef SPHERELU_CLI_STOP_H
#define SPHERELU_CLI_STOP_H

void stop_catch(void); /* again: does nothing */
int stop_signal(void); /* the signal that came, 0: none */

#endif
