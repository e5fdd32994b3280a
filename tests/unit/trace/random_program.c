/* SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#define U(x) ((uint64_t)(x))

static void define(struct event_list *list, uint64_t time, uint32_t name)
{
    event_add(list, time, -1, 42, "s4", name % 2 ? "odd name" : "even name", U(name));
}

static void random_c_event(struct event_list *list, GRand *rand, uint64_t time)
{
    int lane = g_rand_int_range(rand, 0, 6);
    uint32_t name = (uint32_t)g_rand_int_range(rand, 1, 40);
    uint64_t lock = 0x1000 + 16 * (uint64_t)g_rand_int_range(rand, 0, 12);
    uint64_t id = (uint64_t)g_rand_int_range(rand, 0, 30);
    switch (g_rand_int_range(rand, 0, 26)) {
    case 0:
    case 1:
    case 2:
    case 3:
        event_add(list, time, lane, 512, "4", U(name));
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        event_add(list, time, lane, 513, "4", U(name));
        break;
    case 8:
        event_add(list, time, lane, 515, "48", U(name), id);
        break;
    case 9:
    case 10:
        event_add(list, time, lane, 518, "8", lock);
        break;
    case 11:
    case 12:
        event_add(list, time, lane, 519, "8", lock);
        break;
    case 13:
    case 14:
        event_add(list, time, lane, 520, "8", lock);
        break;
    case 22:
    case 23:
    case 24:
    case 25: /* more ends than begins: stacks stay small */
        event_add(list, time, lane, name % 2 ? 520 : 513, name % 2 ? "8" : "4",
                  name % 2 ? lock : U(name));
        break;
    case 15:
        event_add(list, time, lane, 523, "48", U(name % 4), id);
        break;
    case 16:
        event_add(list, time, lane, 524, "48", U(name % 4), id);
        break;
    case 17:
        event_add(list, time, lane, 516, "4888", U(name), 16 * (id + 1), U(16), U(100 + id));
        break;
    case 18:
        event_add(list, time, lane, 517, "8", 16 * (id + 1));
        break;
    case 19:
        event_add(list, time, lane, 521, "88", 0x400000 + 64 * U(name), U(0));
        break;
    case 20:
        event_add(list, time, lane, 522, "8", 0x400000 + 64 * U(name));
        break;
    default:
        define(list, time, name);
        break;
    }
}

/* A lane that is used by one thread after the other. */
static void next_thread(struct event_list *list, uint64_t time, unsigned lane, uint64_t thread)
{
    event_add(list, time, -1, 48, "2", U(lane));
    event_add(list, time, -1, 55, "828", 1000 + thread, U(lane), 1000 + thread);
    event_add(list, time, (int)lane, 0, "4", thread);
    event_add(list, time, (int)lane, 1, "4", thread);
}

struct event_list *random_program_c(uint32_t seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    struct event_list *list = event_list_new();
    for (uint32_t name = 0; name < 40; name++)
        define(list, 0, name);
    uint64_t time = 5, threads = 0, living[6] = {0};
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    while (event_list_count(list) < RANDOM_PROGRAM_EVENTS) {
        time += (uint64_t)g_rand_int_range(rand, 0, 4); /* equal times are frequent */
        unsigned lane = (unsigned)g_rand_int_range(rand, 0, 6);
        if (living[lane] == 0 && g_rand_int_range(rand, 0, 20) == 0) {
            living[lane] = ++threads;
            next_thread(list, time, lane, living[lane]);
        } else if (living[lane] != 0 && g_rand_int_range(rand, 0, 400) == 0) {
            event_add(list, time, (int)lane, 2, "424", living[lane], U(5), U(0));
            event_add(list, time, -1, 47, "2", U(lane));
            living[lane] = 0;
        } else {
            random_c_event(list, rand, time);
        }
    }
    g_rand_free(rand);
    return list;
}

static void random_haskell_event(struct event_list *list, GRand *rand, uint64_t time)
{
    int lane = g_rand_int_range(rand, 0, 4);
    uint64_t thread = (uint64_t)g_rand_int_range(rand, 1, 60);
    uint64_t number = (uint64_t)g_rand_int_range(rand, 0, 1000);
    switch (g_rand_int_range(rand, 0, 20)) {
    case 0:
    case 1:
        event_add(list, time, lane, 0, "4", thread);
        break;
    case 2:
    case 3:
    case 4:
    case 5:
        event_add(list, time, lane, 1, "4", thread);
        break;
    case 6:
    case 7:
    case 8:
        event_add(list, time, lane, 2, "424", thread, number % 21, U(0));
        break;
    case 9:
        event_add(list, time, lane, 4, "42", thread, number % 4);
        break;
    case 10:
        event_add(list, time, lane, 8, "42", thread, number % 4);
        break;
    case 11:
        event_add(list, time, lane, 9, "");
        break;
    case 12:
        event_add(list, time, lane, 20 + (unsigned)(number % 3), "");
        break;
    case 13:
        event_add(list, time, lane, 10, "");
        break;
    case 14:
        event_add(list, time, lane, 34, "8888888", number, number / 2, U(0), number / 3, U(0),
                  number / 5, number % 7);
        break;
    case 15:
        event_add(list, time, lane, 49, "48", U(0), number);
        break;
    case 16:
        event_add(list, time, -1, number % 10 == 0 ? 46 : 45, "2", number % 4);
        break;
    case 17:
        event_add(list, time, -1, number % 3 == 0 ? 165 : 162, "8", U(0));
        break;
    case 18:
        event_add(list, time, -1, 164, "18z", U(0), number, number % 2 ? "THUNK" : "FUN");
        break;
    default:
        event_add(list, time, -1, number % 2 ? 55 : 57, number % 2 ? "828" : "8", number % 9,
                  number % 4, number);
        break;
    }
}

struct event_list *random_program_haskell(uint32_t seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    struct event_list *list = event_list_new();
    uint64_t time = 5;
    event_add(list, 0, -1, 29, "4s", U(0), "GHC-9.0.2 rts_thr_l");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    while (event_list_count(list) < RANDOM_PROGRAM_EVENTS) {
        time += (uint64_t)g_rand_int_range(rand, 0, 4);
        random_haskell_event(list, rand, time);
    }
    g_rand_free(rand);
    return list;
}
