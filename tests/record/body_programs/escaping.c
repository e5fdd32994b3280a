/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers on a stack of their own, left by siglongjmp from different depths; handlers that come
 * after them, from elsewhere. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "counted.h"

static volatile int sum;
static sigjmp_buf escape;

static ALONE int step(int x)
{
    COUNT;
    return x <= 0 ? 1 : step(x - 1) ^ x;
}

static ALONE void leave(int depth)
{
    COUNT;
    if (depth == 0)
        siglongjmp(escape, 1);
    leave(depth - 1);
    sum++;
}

static volatile int depth_to_leave;

static ALONE void on_escape(int number)
{
    COUNT;
    sum += step(number % 2);
    leave(depth_to_leave);
}

static ALONE void on_return(int number)
{
    COUNT;
    sum += step(number % 3);
}

static ALONE void provoke(int depth)
{
    COUNT;
    if (depth > 0)
        provoke(depth - 1);
    else
        raise(SIGUSR1);
    sum++;
}

static ALONE void attempt(int depth)
{
    COUNT;
    depth_to_leave = depth % 3;
    if (sigsetjmp(escape, 1) == 0)
        provoke(depth);
    sum += step(depth);
}

static ALONE void other(void)
{
    COUNT;
    raise(SIGUSR2);
    sum++;
}

int main(void)
{
    static char stack[65536] __attribute__((aligned(65536)));
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_escape, .sa_flags = SA_ONSTACK};
    COUNT;
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_return;
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 6; i++) {
        attempt(i);
        other();
        raise(SIGUSR2);
    }
    printf("%d\n", sum);
    print_counts();
    return 0;
}
