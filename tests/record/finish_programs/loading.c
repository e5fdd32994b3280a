/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a library, calls into it, is called back from it, closes it, and all again. */
#include <dlfcn.h>
#include <stdio.h>

static int twice(int n)
{
    return n + n;
}

static int use(const char *path, int n)
{
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        puts(dlerror());
        return -1;
    }
    int (*run)(int (*)(int), int);
    *(void **)&run = dlsym(library, "plugin_run");
    int result = run(twice, n);
    dlclose(library);
    return result;
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 3 && argc > 1; i++)
        sum += use(argv[1], 5 + i);
    printf("%d\n", sum);
    return sum < 0;
}
