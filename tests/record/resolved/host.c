/* SPDX-License-Identifier: Apache-2.0 */
/* Looks names up and runs plugins: which definition each one meets. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Plugins have a function of this name, too. */
int fm_plugin_version(void)
{
    return 1;
}

static void look_up(void)
{
    static const char *const names[] = {
        "malloc", "free",        "read",   "pthread_create", "longjmp",         "dlclose",
        "execvp", "makecontext", "select", "fgets",          "fm_plugin_other", "pthread_nothing"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *first = dlsym(RTLD_DEFAULT, names[i]), *next = dlsym(RTLD_NEXT, names[i]);
        printf("%s: %s, behind the program %s\n", names[i], first != NULL ? "found" : "not found",
               next != NULL ? "found" : "not found");
    }
    void *(*take)(size_t);
    void (*give)(void *);
    void *symbol = dlsym(RTLD_NEXT, "malloc");
    memcpy(&take, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_DEFAULT, "free");
    memcpy(&give, &symbol, sizeof symbol);
    give(take(100));
}

int main(int argc, char **argv)
{
    look_up();
    printf("the program's version: %d\n", fm_plugin_version());
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        void (*run)(void);
        void *symbol = dlsym(plugin, "run");
        memcpy(&run, &symbol, sizeof symbol);
        run();
        dlclose(plugin);
    }
    return 0;
}
