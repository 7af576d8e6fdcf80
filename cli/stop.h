/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C and SIGTERM: the first one lets the step finish and checkpoints be written. Where that takes more than half a
 * second or so, in a step that is long, while rows are scored or figures drawn, the program leaves all the same, with
 * its last words: a kill loses nothing but what came after the last checkpoint. The second one kills. To be called when
 * there is somebody who looks for them, not before: while data are read nobody does, and the system's own way of ending
 * is right. */
#ifndef SPHERELU_CLI_STOP_H
#define SPHERELU_CLI_STOP_H

struct command;

/* advice: what the user may do next; NULL: another process says it. A second call does nothing. */
void stop_catch(const struct command *command, const char *advice);
void stop_over(void);  /* the work came back: no more haste                          */
int stop_signal(void); /* the signal that came, 0: none                              */
int stop_end(void);    /* "spherelu train: stopped; ADVICE" on stderr; the exit code */

#endif
