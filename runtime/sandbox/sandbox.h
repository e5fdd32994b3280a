/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that sandbox themselves (seccomp): recording continues with the system calls that their
 * filters allow. Memory that it will need is reserved before, the rest is switched off, and the
 * recording's header says so. */
#pragma once

/* Call it before a system call by which the program may confine itself, with its number and first
 * arguments. Pass the result to fm_sandbox_entered(). */
unsigned fm_sandbox_enter(long number, unsigned long a, unsigned long b, unsigned long c);
/* Call it after the system call, with its result. A failed call changes nothing. */
void fm_sandbox_entered(unsigned entered, long number, unsigned long flags, long result);
