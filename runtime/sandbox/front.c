/* SPDX-License-Identifier: Apache-2.0 */
/* prctl() in front of libc's: programs confine themselves by it. (seccomp() is no function of
 * libc's; for syscall() see waiting/conditions.c.) */
#include "sandbox/sandbox.h"
#include "waiting/waiting.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#define CALLS(X) X(prctl)
FM_WAIT_NEXT(CALLS)

FM_WAIT_SEES(int, prctl, prctl,
             (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d))
{
    unsigned entered =
        option == PR_SET_SECCOMP ? fm_sandbox_enter(SYS_prctl, PR_SET_SECCOMP, a, b) : 0;
    int result = next.prctl(option, a, b, c, d);
    fm_sandbox_entered(entered, SYS_prctl, 0, result);
    return result;
}
