/* SPDX-License-Identifier: Apache-2.0 */
/* argv: libraries that hold plugin_run. */
#include <dlfcn.h>
#include <stdio.h>
static int use(int (*run)(int))
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += run(i);
    return sum;
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++) {
            void *library = dlopen(argv[i], RTLD_NOW);
            int (*run)(int) = (int (*)(int))dlsym(library, "plugin_run");
            sum += use(run);
            dlclose(library);
        }
    printf("%d\n", sum);
    return 0;
}
