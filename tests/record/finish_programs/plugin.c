/* SPDX-License-Identifier: Apache-2.0 */
/* The library that loading.c opens. */
static int helper(int n)
{
    return n * 2;
}

int plugin_run(int (*back)(int), int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += back(helper(i));
    return sum;
}
