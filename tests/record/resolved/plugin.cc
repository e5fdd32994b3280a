/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin in C++ of a program in C: the library of C++ is the plugin's alone. */
#include <cstdio>
#include <stdexcept>

extern "C" __attribute__((noinline)) int fm_plugin_version(void)
{
    return 2;
}

static int ended;

struct guarded : std::runtime_error {
    using std::runtime_error::runtime_error;
    guarded(const guarded &) = default;
    ~guarded() override
    {
        ended++;
    }
};

__attribute__((noinline)) static void throws(int depth)
{
    if (depth == 0)
        throw guarded("from below");
    throws(depth - 1);
    ended += 0 * depth;
}

__attribute__((noinline)) static void passes_on()
{
    try {
        throws(5);
    } catch (const std::exception &) {
        throw;
    }
}

extern "C" void run(void)
{
    printf("the plugin's version: %d\n", fm_plugin_version());
    try {
        passes_on();
    } catch (const std::runtime_error &error) {
        printf("caught: %s\n", error.what());
    }
    try {
        throw 7;
    } catch (int number) {
        printf("caught: %d\n", number);
    }
    printf("ended: %d\n", ended);
}
