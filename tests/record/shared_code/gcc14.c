/* SPDX-License-Identifier: Apache-2.0 */
int sum;
__attribute__((noinline)) int put(int w)
{
    sum += w;
    return sum;
}
static int wide(int op, int to)
{
    return put(op | to << 7) + put(to);
}
__attribute__((noinline)) int constant(int to, int k)
{
    if (k < 10)
        return wide(3, to);
    return wide(4, to) + k;
}
int main(void)
{
    for (int i = 0; i < 30; i++)
        constant(i, i);
    return wide(5, 6) == 7;
}
