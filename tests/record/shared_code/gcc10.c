/* SPDX-License-Identifier: Apache-2.0 */
/* gcc10.s is made of this by gcc 10: `fathom cc gcc -g -O2 -S gcc10.c`. */
__attribute__((noinline)) int leaf(int n)
{
    __asm__ volatile("");
    return n + 1;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

int main(void)
{
    return work(10) != 55;
}
