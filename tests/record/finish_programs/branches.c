/* SPDX-License-Identifier: Apache-2.0 */
/* One function whose branches depend on who calls it. */
#include <stdio.h>
#include <stdlib.h>

static int work(int n, int mode)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (mode == 0)
            sum += i;
        else if (i % 3 == 0)
            sum -= i;
        if (i == 1000)
            break;
    }
    switch (mode) {
    case 0:
        sum++;
        break;
    case 1:
        sum--;
        break;
    default:
        sum = 0;
    }
    return sum;
}

static int first(int n)
{
    return work(n, 0);
}

static int second(int n)
{
    int x = 0;
    while (x < 3)
        x += 1;
    return work(n, 1) + x;
}

int main(void)
{
    int s = 0;
    for (int i = 0; i < 10; i++)
        s += first(7);
    for (int i = 0; i < 5; i++)
        s += second(9);
    printf("%d\n", s);
    return 0;
}
