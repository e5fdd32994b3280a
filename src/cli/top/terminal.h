/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal as it was, given back also by a program that fails. */
#pragma once

/* Before curses begins. */
void fm_terminal_note(void);
/* Once it has begun: from now on SIGABRT and what a fault raises give the terminal back first. */
void fm_terminal_guard(void);
/* When it has ended. */
void fm_terminal_release(void);
