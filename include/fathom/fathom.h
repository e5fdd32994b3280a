/* SPDX-License-Identifier: Apache-2.0 */
/* Control of a recording from inside the recorded program.
 *
 * It may be included anywhere: in a program that was not built with fathom cc, every function
 * does nothing and costs a test of one address. No library is needed for linking.
 *
 * All functions may be called from any thread; none from a signal handler. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void fathom_runtime_stop(void);
__attribute__((weak)) void fathom_runtime_start(void);
__attribute__((weak)) int fathom_runtime_mark(const char *name);
__attribute__((weak)) int fathom_runtime_snapshot(const char *name);
__attribute__((weak)) int fathom_runtime_output(char *name, unsigned long bytes);

/* Stops counting, in all threads, until fathom_start. Calls made meanwhile are not in the profile;
 * calls already open then are still closed when they end. */
__attribute__((no_instrument_function, unused)) static inline void fathom_stop(void)
{
    if (fathom_runtime_stop)
        fathom_runtime_stop();
}

/* Continues counting. With FATHOM_RECORDING=off in the environment, a program starts with counting
 * stopped. */
__attribute__((no_instrument_function, unused)) static inline void fathom_start(void)
{
    if (fathom_runtime_start)
        fathom_runtime_start();
}

/* Marks the beginning of a phase, by name (copied). Returns 0, or a negative error number: -ENODEV
 * when nothing is recorded, -ENOSPC when the recording is full. */
__attribute__((no_instrument_function, unused)) static inline int fathom_mark(const char *name)
{
    return fathom_runtime_mark ? fathom_runtime_mark(name) : -19;
}

/* Copies the present recording to NAME.snap<n>.rec beside it, and marks the moment. Threads
 * continue meanwhile, so their counts in the copy are not of one instant. Returns n, from 1, or a
 * negative error number. Cost: writing the file once. */
__attribute__((no_instrument_function, unused)) static inline int fathom_snapshot(const char *name)
{
    return fathom_runtime_snapshot ? fathom_runtime_snapshot(name) : -19;
}

/* The recording's name: NAME of NAME.data, for files to be put beside it. name: room for that many
 * bytes, including the terminator. Returns 0, -ENODEV when nothing is recorded, -ENAMETOOLONG. */
__attribute__((no_instrument_function, unused)) static inline int fathom_output(char *name,
                                                                                unsigned long bytes)
{
    return fathom_runtime_output ? fathom_runtime_output(name, bytes) : -19;
}

#ifdef __cplusplus
}
#endif
