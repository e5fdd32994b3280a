/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded, called, unloaded, twice: as two libraries (NUMBER) that may get the same addresses. */
int plugin_run(int x);
static int helper(int x)
{
    return x + NUMBER;
}
static int other(int x)
{
    return helper(x) * 2;
}
int plugin_run(int x)
{
    return NUMBER == 1 ? helper(x) : other(x) + helper(x);
}
