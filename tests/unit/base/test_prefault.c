/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that a thread beside asks for: they come, nothing in them changes, and arrays that were
 * taken back are left alone. */
#include <errno.h>
#include <glib.h>
#include <sys/mman.h>

#include "base/prefault.h"

#define PAGE_BYTES 4096u
#define ARRAY_BYTES (1024u * PAGE_BYTES)

static unsigned char *pages(void)
{
    unsigned char *array = mmap(NULL, ARRAY_BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_assert_true(array != MAP_FAILED);
    (void)madvise(array, ARRAY_BYTES, MADV_NOHUGEPAGE); /* which would reach beyond an array */
    return array;
}

static unsigned resident(unsigned char *array)
{
    unsigned char in[ARRAY_BYTES / PAGE_BYTES];
    unsigned count = 0;
    g_assert_cmpint(mincore(array, ARRAY_BYTES, in), ==, 0);
    for (unsigned i = 0; i < sizeof in; i++)
        count += in[i] & 1u;
    return count;
}

static void wait_until_done(struct fm_prefault *prefault)
{
    for (gint64 end = g_get_monotonic_time() + 120 * G_USEC_PER_SEC;
         !fm_prefault_is_done(prefault);) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
}

static bool kernel_can(void)
{
#ifdef MADV_POPULATE_WRITE
    unsigned char *array = pages();
    bool can = madvise(array, PAGE_BYTES, MADV_POPULATE_WRITE) == 0 || errno != EINVAL;
    munmap(array, ARRAY_BYTES);
    return can;
#else
    return false;
#endif
}

static void pages_come(void)
{
    if (!kernel_can()) {
        g_test_skip("the kernel cannot be asked for pages");
        return;
    }
    struct fm_prefault *prefault = fm_prefault_new();
    unsigned char *one = pages(), *other = pages(), *later = pages();
    fm_prefault_add_later(prefault, later, ARRAY_BYTES);
    fm_prefault_add(prefault, one, ARRAY_BYTES);
    fm_prefault_add(prefault, other + 10, ARRAY_BYTES - 20);
    wait_until_done(prefault);
    g_assert_cmpuint(resident(later), ==, ARRAY_BYTES / PAGE_BYTES);
    g_assert_cmpuint(resident(one), ==, ARRAY_BYTES / PAGE_BYTES);
    g_assert_cmpuint(resident(other), ==, ARRAY_BYTES / PAGE_BYTES - 2);
    fm_prefault_free(prefault);
    munmap(one, ARRAY_BYTES);
    munmap(other, ARRAY_BYTES);
    munmap(later, ARRAY_BYTES);
}

static void what_is_written_meanwhile_stays(void)
{
    for (unsigned round = 0; round < 20; round++) {
        struct fm_prefault *prefault = fm_prefault_new();
        unsigned char *array = pages();
        fm_prefault_add(prefault, array, ARRAY_BYTES);
        for (size_t i = 0; i < ARRAY_BYTES; i += 64)
            array[i] = (unsigned char)(i / 64 + round);
        wait_until_done(prefault);
        for (size_t i = 0; i < ARRAY_BYTES; i++)
            if (array[i] != (i % 64 == 0 ? (unsigned char)(i / 64 + round) : 0))
                g_error("byte %zu is %u", i, array[i]);
        fm_prefault_free(prefault);
        munmap(array, ARRAY_BYTES);
    }
}

/* Nothing of an array that was forgotten is asked for, wherever in it the thread was. */
static void what_is_forgotten_is_left_alone(void)
{
    for (unsigned round = 0; round < 20; round++) {
        struct fm_prefault *prefault = fm_prefault_new();
        unsigned char *array = pages(), *kept = pages();
        fm_prefault_add(prefault, array, ARRAY_BYTES / 2);
        fm_prefault_add(prefault, array + ARRAY_BYTES / 2, ARRAY_BYTES / 2);
        fm_prefault_add(prefault, kept, ARRAY_BYTES);
        fm_prefault_forget(prefault, array, ARRAY_BYTES);
        g_assert_cmpint(madvise(array, ARRAY_BYTES, MADV_DONTNEED), ==, 0);
        wait_until_done(prefault);
        g_assert_cmpuint(resident(array), ==, 0);
        if (kernel_can())
            g_assert_cmpuint(resident(kept), ==, ARRAY_BYTES / PAGE_BYTES);
        fm_prefault_free(prefault);
        munmap(array, ARRAY_BYTES);
        munmap(kept, ARRAY_BYTES);
    }
}

static void nothing_to_do(void)
{
    struct fm_prefault *prefault = fm_prefault_new();
    char small[16];
    fm_prefault_add(prefault, small, sizeof small);
    fm_prefault_add(prefault, NULL, ARRAY_BYTES);
    g_assert_true(fm_prefault_is_done(prefault));
    fm_prefault_forget(prefault, small, sizeof small);
    fm_prefault_free(prefault);
    fm_prefault_free(NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/prefault/come", pages_come);
    g_test_add_func("/prefault/written", what_is_written_meanwhile_stays);
    g_test_add_func("/prefault/forgotten", what_is_forgotten_is_left_alone);
    g_test_add_func("/prefault/nothing", nothing_to_do);
    return g_test_run();
}
