/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that confine themselves (seccomp): recording goes on with the system calls that their
 * filters allow. The room that it will need is reserved before, the rest is switched off, and the
 * recording's header says so. */
#pragma once

/* Call it before a system call by which the program may confine itself, with its number and first
 * arguments. Pass the result to fm_sandbox_entered(). */
unsigned fm_sandbox_enter(long number, unsigned long a, unsigned long b, unsigned long c);
/* Call it behind, with the call's result. A call that failed changes nothing. */
void fm_sandbox_entered(unsigned entered, long number, unsigned long flags, long result);
