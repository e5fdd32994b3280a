/* SPDX-License-Identifier: Apache-2.0 */
/* State of kernel traces: texts, written as CTF and opened, give every segment of every lane. */
#include <glib/gstdio.h>
#include <inttypes.h>
#include <link.h>
#include <string.h>

#include "ctf_text.h"
#include "tests/patience.h"
#include "trace/filter/filter.h"
#include "trace/format/open.h"
#include "trace/state/state.h"

struct run {
    char *parent, *folder;
    struct fm_trace *trace;
    struct fm_state *state;
    GString *segments;
    struct fm_filter *filter;
    GString *accepted;
};

/* Threads change their names: they are told by their numbers. */
static char *label_of(const struct fm_lane *lane)
{
    uint64_t number = fm_lane_number(lane);
    return lane->kind == FM_LANE_THREAD && number < UINT32_MAX
               ? g_strdup_printf("%" G_GUINT64_FORMAT, number)
               : g_strdup(lane->name);
}

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    struct run *run = user;
    g_autofree char *label = label_of(lane);
    g_string_append_printf(run->segments,
                           "%s %s %u %s %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "\n",
                           fm_lane_kind_name(lane->kind), label, depth,
                           fm_trace_value_name(run->trace, entry->value), entry->since, end);
}

static void on_arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                     const struct fm_lane *to, uint64_t to_time)
{
    struct run *run = user;
    g_assert_cmpuint(from_time, ==, to_time);
    g_string_append_printf(run->segments, "arrow %s %s %" G_GUINT64_FORMAT "\n", from->name,
                           to->name, to_time);
}

static void on_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct run *run = user;
    g_string_append_printf(run->segments, "mark %s %s %" G_GUINT64_FORMAT "\n", lane->name,
                           fm_trace_value_name(run->trace, value), time);
}

static bool on_event(void *user, void *context)
{
    struct run *run = user;
    const struct fm_tracefile_context *at = context;
    if (run->filter != NULL && fm_filter_accepts(run->filter, at, run->state))
        g_string_append_printf(run->accepted, "%" G_GUINT64_FORMAT " ", at->event.time);
    return false;
}

static bool grown_to_end(struct fm_trace *trace)
{
    g_autoptr(GError) error = NULL;
    bool ended = !fm_trace_grows(trace);
    if (!ended) {
        fm_trace_grow(trace, &ended, &error);
        g_assert_no_error(error);
    }
    return ended;
}

static void run_open(struct run *run, const char *text)
{
    g_autoptr(GError) error = NULL;
    *run = (struct run){.segments = g_string_new(NULL), .accepted = g_string_new(NULL)};
    run->parent = g_dir_make_tmp("fathom-test-kernel-XXXXXX", NULL);
    run->folder = g_build_filename(run->parent, "kernel", NULL);
    ctf_write(run->folder, text);
    g_assert_true(fm_trace_recognise(run->folder));
    g_autofree char *identity = fm_trace_identity(run->folder, &error);
    run->trace = fm_trace_open(run->folder, identity, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(fm_trace_format(run->trace), ==, "ctf");
    check_until(grown_to_end(run->trace));
    g_autofree char *damage = fm_trace_damage(run->trace);
    g_assert_cmpstr(damage, ==, "");
    run->state = fm_state_new(run->trace);
}

/* All events; the segments that are open at the end are told with that end. */
static void run_read(struct run *run, const char *filter)
{
    const struct fm_state_observer observer = {
        .user = run, .segment = on_segment, .arrow = on_arrow, .mark = on_mark};
    struct fm_hooks *hooks = fm_hooks_new();
    run->filter = filter == NULL ? NULL : fm_filter_new(filter, NULL);
    g_string_truncate(run->segments, 0);
    g_string_truncate(run->accepted, 0);
    fm_state_clear(run->state, 0);
    fm_state_add_observer(run->state, &observer);
    fm_hooks_add(hooks, fm_state_hook, run->state, FM_HOOK_STATE);
    fm_hooks_add(hooks, on_event, run, FM_HOOK_DEFAULT);
    fm_trace_each_event(run->trace, 0, FM_TIME_INF, hooks);
    fm_state_flush(run->state, run->trace->end_time, &observer);
    fm_state_remove_observer(run->state, &observer);
    fm_filter_free(run->filter);
}

static void remove_tree(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            remove_tree(path);
        else
            g_unlink(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
}

static void run_done(struct run *run)
{
    fm_state_free(run->state);
    fm_trace_free(run->trace);
    g_string_free(run->segments, TRUE);
    g_string_free(run->accepted, TRUE);
    remove_tree(run->parent);
    g_free(run->parent);
    g_free(run->folder);
}

/* The lines that begin with one of the words, without their order among lanes. */
static char *lines_of(const struct run *run, const char *begin)
{
    g_auto(GStrv) lines = g_strsplit(run->segments->str, "\n", -1);
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; lines[i] != NULL; i++) {
        if (g_str_has_prefix(lines[i], begin))
            g_string_append_printf(out, "%s\n", lines[i] + strlen(begin));
    }
    return g_string_free(out, FALSE);
}

static void check(const struct run *run, const char *begin, const char *expected)
{
    g_autofree char *found = lines_of(run, begin);
    if (strcmp(found, expected) != 0)
        g_error("%s: found\n%s\nexpected\n%s", begin, found, expected);
}

#define SWITCH(time, cpu, from, from_tid, state, to, to_tid)                  \
#time " " #cpu " sched_switch prev_comm=\"" from "\" prev_tid=" #from_tid \
          " prev_state=" #state " next_comm=\"" to "\" next_tid=" #to_tid "\n"

/* Every transition of processes. Time 0 is the first event's. */
static const char processes[] =
    "100 0 lttng_statedump_start\n"
    "110 0 lttng_statedump_process_state tid=10 pid=10 ppid=1 name=\"sh\" type=0 status=5\n"
    "120 0 lttng_statedump_process_state tid=11 pid=10 ppid=1 name=\"worker\" type=0 status=2\n"
    "130 0 lttng_statedump_process_state tid=2 pid=2 ppid=0 name=\"kthreadd\" type=1 status=0\n"
    "140 0 lttng_statedump_process_state tid=12 pid=12 ppid=1 name=\"cron\" type=0 status=0\n"
    "150 0 lttng_statedump_end\n"
    /* cpu 0: idle -> sh, which forks make and waits; make execs, writes, exits. */
    "160 0 sched_wakeup comm=\"sh\" tid=10 target_cpu=0\n" /**/
    SWITCH(170, 0, "swapper/0", 0, 0, "sh", 10)            /**/
    "180 0 syscall_entry_clone flags=0x11\n"
    "190 0 sched_process_fork parent_comm=\"sh\" parent_tid=10 parent_pid=10 child_comm=\"sh\" "
    "child_tid=20 child_pid=20\n"
    "195 0 sched_wakeup_new comm=\"sh\" tid=20 target_cpu=1\n"
    "200 0 syscall_exit_clone ret=20\n"
    "210 0 syscall_entry_wait4 upid=20\n" /**/
    SWITCH(220, 0, "sh", 10, 1, "swapper/0", 0)
        SWITCH(230, 1, "swapper/1", 0, 0, "sh",
               20) "240 1 syscall_exit_clone ret=0\n"
                   "250 1 syscall_entry_execve filename=\"/bin/make\"\n"
                   "255 1 sched_process_exec filename=\"/usr/bin/make\" tid=20 old_tid=20\n"
                   "260 1 syscall_exit_execve ret=0\n" /**/
    SWITCH(270, 1, "make", 20, 0, "worker", 11)
        SWITCH(280, 1, "worker", 11, 1, "make",
               20) "290 1 syscall_entry_exit_group error_code=0\n"
                   "300 1 sched_process_exit comm=\"make\" tid=20 prio=20\n"
                   "310 1 sched_wakeup comm=\"sh\" tid=10 target_cpu=0\n" /**/
    SWITCH(320, 1, "make", 20, 128, "swapper/1", 0)
        SWITCH(330, 0, "swapper/0", 0, 0, "sh",
               10) "340 0 syscall_exit_wait4 ret=20\n"
                   "350 0 sched_process_free comm=\"make\" tid=20 prio=20\n"
                   "360 0 sched_wakeup comm=\"kthreadd\" tid=2 target_cpu=0\n" /**/
    SWITCH(370, 0, "sh", 10, 256, "kthreadd", 2)
        SWITCH(380, 0, "kthreadd", 2, 2, "sh",
               10) "385 0 sched_wakeup comm=\"sh\" tid=10 target_cpu=0\n" /* it runs: no change */
                   "400 0 syscall_entry_read fd=0\n";

static void test_processes(void)
{
    struct run run;
    run_open(&run, processes);
    run_read(&run, NULL);
    check(&run, "thread 10 ",
          "0 waiting 10-60\n"
          "0 ready (woken) 60-70\n"
          "0 system call 70-80\n"
          "0 clone 80-100\n"
          "0 user mode 100-110\n"
          "0 wait4 110-120\n"
          "0 waiting in wait4 120-210\n"
          "0 ready (woken) 210-230\n"
          "0 wait4 230-240\n"
          "0 user mode 240-270\n"
          "0 ready (preempted) 270-280\n"
          "0 user mode 280-300\n"
          "0 read 300-300\n");
    check(&run, "thread 20 ",
          "0 created 90-95\n"
          "0 ready (woken) 95-130\n"
          "0 clone 130-140\n"
          "0 user mode 140-150\n"
          "0 execve 150-160\n"
          "0 user mode 160-170\n"
          "0 ready (preempted) 170-180\n"
          "0 user mode 180-190\n"
          "0 exit_group 190-200\n"
          "0 exiting 200-220\n"
          "0 dead 220-250\n");
    check(&run, "thread 11 ",
          "0 ready 20-170\n"
          "0 running 170-180\n"
          "0 waiting 180-300\n");
    check(&run, "thread 12 ", "0 waiting 50-300\n");
    check(&run, "thread 2 ",
          "0 waiting 50-260\n"
          "0 ready (woken) 260-270\n"
          "0 kernel thread 270-280\n"
          "0 waiting 280-300\n");
    check(&run, "thread swapper/0 ", "0 idle 120-230\n");
    check(&run, "arrow ", "sh sh 90\nsh sh 95\nmake sh 210\nsh kthreadd 260\n");
    const struct fm_lane *make = NULL;
    for (uint32_t i = 0; i < fm_state_lane_count(run.state); i++) {
        const struct fm_lane *lane = fm_state_lane(run.state, i);
        make = lane->kind == FM_LANE_THREAD && lane->key == 20 ? lane : make;
    }
    g_assert_true(make->ended);
    g_assert_cmpstr(make->name, ==, "make");
    /* Names with the numbers by which they are found; what runs on a CPU stands in its boxes. */
    g_autofree char *label = fm_state_lane_label(run.state, make);
    g_assert_cmpstr(label, ==, "make (tid 20, pid 20)"); /* ended: on no CPU */
    for (uint32_t i = 0; i < fm_state_lane_count(run.state); i++) {
        const struct fm_lane *lane = fm_state_lane(run.state, i);
        g_autofree char *of = fm_state_lane_label(run.state, lane);
        if (lane->kind == FM_LANE_THREAD && lane->key == 10)
            g_assert_cmpstr(of, ==, "sh (tid 10, pid 10, CPU 0)");
        if (lane->kind == FM_LANE_CPU)
            g_assert_cmpstr(of, ==, lane->key == 0 ? "cpu 0" : "cpu 1");
    }
    const struct fm_lane *process = fm_state_lane(run.state, make->parent);
    g_assert_cmpstr(process->name, ==, "make");
    g_assert_cmpuint(process->key, ==, 20);
    g_assert_cmpuint(fm_state_lane(run.state, process->parent)->key, ==, 10);
    const struct fm_lane *worker = fm_state_find_lane(run.state, FM_LANE_THREAD, 11);
    g_assert_cmpuint(fm_state_lane(run.state, worker->parent)->key, ==, 10);
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 0);
    run_done(&run);
}

static const char interrupts[] =
    "1000 0 lttng_statedump_interrupt irq=9 name=\"IO-APIC\" action=\"eth0\"\n"
    "1000 0 lttng_statedump_block_device dev=8388608 diskname=\"sda\"\n" /**/
    SWITCH(1010, 0, "swapper/0", 0, 0, "cat",
           30) "1020 0 syscall_entry_read fd=3\n"
               "1030 0 block_rq_issue dev=8388608 sector=8 rwbs=4\n"
               "1035 0 block_rq_issue dev=8388608 sector=16 rwbs=1\n"
               "1040 0 irq_handler_entry irq=9 name=\"eth0\"\n"
               "1042 0 irq_softirq_raise vec=3\n"
               "1045 0 irq_handler_exit irq=9 ret=1\n"
               "1050 0 irq_softirq_entry vec=3\n"
               "1052 0 irq_softirq_raise vec=3\n"
               "1055 0 irq_softirq_exit vec=3\n"
               "1060 0 block_rq_complete dev=8388608 sector=16 rwbs=1\n"
               "1070 0 block_rq_complete dev=8388608 sector=8 rwbs=4\n"
               "1080 0 irq_softirq_entry vec=3\n"
               "1085 0 irq_softirq_exit vec=3\n"
               "1090 0 syscall_exit_read ret=1\n"
               "1095 0 irq_handler_exit irq=9 ret=1\n" /* without its entry */
               "1100 0 block_rq_complete dev=8388608 sector=8 rwbs=4\n";

static void test_interrupts(void)
{
    struct run run;
    run_open(&run, interrupts);
    run_read(&run, NULL);
    check(&run, "thread 30 ",
          "0 running 10-20\n"
          "1 irq 9 eth0 40-45\n"
          "1 NET_RX 50-55\n"
          "1 NET_RX 80-85\n"
          "0 read 20-90\n"
          "0 user mode 90-100\n");

    check(&run, "cpu cpu 0 ",
          "1 irq 9 eth0 40-45\n"
          "1 NET_RX 50-55\n"
          "1 NET_RX 80-85\n"
          "0 cat (30) 10-100\n");
    check(&run, "interrupt irq 9 eth0 ",
          "1 handled 40-45\n"
          "0 idle 40-100\n");
    check(&run, "soft interrupt NET_RX ",
          "0 pending 42-50\n"
          "0 handled 50-55\n"
          "0 pending 55-80\n"
          "0 handled 80-85\n"
          "0 idle 85-100\n");
    check(&run, "disk sda ",
          "2 writing 35-60\n"
          "1 reading 30-70\n"
          "0 idle 0-100\n");
    /* The interrupt's exit: thread, CPU, line; the request. */
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 4);
    run_done(&run);
}

/* The first LTTng's names, as far as they mean the same. */
static void test_old(void)
{
    struct run run;
    run_open(&run, "100 0 kernel.sched_schedule prev_pid=0 next_pid=5 prev_state=0\n"
                   "110 0 kernel.syscall_entry syscall_id=212\n"
                   "120 0 kernel.trap_entry trap_id=6\n"
                   "130 0 kernel.irq_entry irq_id=1\n"
                   "140 0 kernel.irq_exit\n"
                   "150 0 kernel.trap_exit\n"
                   "160 0 kernel.process_fork parent_pid=5 child_pid=6 child_tgid=6\n"
                   "170 0 kernel.sched_try_wakeup pid=6 cpu_id=0 state=1\n"
                   "180 0 kernel.syscall_exit\n"
                   "190 0 kernel.process_exit pid=5\n"
                   "195 0 kernel.process_free pid=5\n"
                   "200 0 kernel.sched_schedule prev_pid=5 next_pid=6 prev_state=64\n"
                   "210 0 fs.exec filename=\"/bin/ls\"\n"
                   "220 0 kernel.page_fault_entry ip=0x1\n"
                   "230 0 kernel.page_fault_exit res=0\n"
                   "240 0 userspace.thread_brand name=\"lister\"\n"
                   "300 0 other n=0\n");
    run_read(&run, NULL);
    check(&run, "thread 5 ",
          "0 running 0-10\n"
          "2 irq 1 30-40\n"
          "1 trap 6 20-50\n"
          "0 syscall 212 10-80\n"
          "0 user mode 80-90\n"
          "0 exiting 90-100\n"
          "0 dead 100-100\n");
    check(&run, "thread 6 ",
          "0 created 60-70\n"
          "0 ready (woken) 70-100\n"
          "1 page fault 120-130\n"
          "0 syscall 212 100-200\n");
    check(&run, "trap trap 6 ", "0 handled 20-50\n0 idle 50-200\n");
    g_assert_cmpstr(fm_state_find_lane(run.state, FM_LANE_THREAD, 6)->name, ==, "lister");
    g_assert_null(fm_state_find_lane(run.state, FM_LANE_THREAD, 5));
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 0);
    run_done(&run);
}

static void test_programs(void)
{
    struct run run;
    run_open(&run,
             "context vtid vpid\n"
             "100 0 app:request_begin n=1 vtid=7 vpid=5\n"
             "110 1 app:tick n=1 vtid=8 vpid=5\n"
             "120 0 lttng_ust_cyg_profile:func_entry addr=0x1000 call_site=0x20 vtid=7 vpid=5\n"
             "130 2 lttng_ust_cyg_profile:func_exit addr=0x1000 call_site=0x20 vtid=7 vpid=5\n"
             "140 2 app:request_end n=1 vtid=7 vpid=5\n"
             "150 2 app:request_end n=1 vtid=7 vpid=5\n");
    run_read(&run, NULL);
    check(&run, "thread 7 ", "1 0x1000 20-30\n0 app:request 0-40\n");
    check(&run, "mark ", "thread 8 app:tick 10\n");
    const struct fm_lane *eight = fm_state_find_lane(
        run.state, FM_LANE_THREAD, FM_LANE_OF_PROGRAM | 5 << FM_LANE_THREAD_BITS | 8);
    g_assert_cmpuint(fm_lane_number(eight), ==, 8);
    g_assert_cmpuint(fm_state_lane(run.state, eight->parent)->key, ==, 5);
    g_autofree char *label = fm_state_lane_label(run.state, eight);
    g_assert_cmpstr(label, ==, "thread 8 (tid 8, pid 5)");
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 1);
    run_done(&run);
}

#define MUTEX "lttng_ust_pthread:pthread_mutex_"
/* Two processes whose threads have one number; locks at one address in both; one whose next holder
 * is told before it was left; a thread of which the kernel says what it does. */
static void test_program_rows(void)
{
    struct run run;
    run_open(&run, "context vtid vpid procname\n"
                   "100 0 app:work_begin n=1 vtid=2 vpid=1 procname=\"one\"\n"
                   "110 1 app:work_begin n=1 vtid=2 vpid=9 procname=\"nine\"\n"
                   "120 0 " MUTEX "lock_req mutex=0x10 vtid=2 vpid=1 procname=\"one\"\n"
                   "125 1 " MUTEX "trylock mutex=0x10 status=0 vtid=2 vpid=9 procname=\"nine\"\n"
                   "130 0 " MUTEX "lock_acq mutex=0x10 status=0 vtid=2 vpid=1 procname=\"one\"\n"
                   "131 0 " MUTEX "lock_acq mutex=0x20 status=0 vtid=7 vpid=7\n"
                   "135 1 " MUTEX "lock_acq mutex=0x20 status=0 vtid=8 vpid=7\n"
                   "136 0 " MUTEX "unlock mutex=0x20 status=0 vtid=7 vpid=7\n"
                   "137 1 " MUTEX "lock_acq mutex=0x20 status=0 vtid=8 vpid=7\n"
                   "138 1 " MUTEX "unlock mutex=0x20 status=0 vtid=8 vpid=7\n"
                   "139 1 " MUTEX "unlock mutex=0x20 status=0 vtid=8 vpid=7\n"
                   "140 0 " MUTEX "unlock mutex=0x10 status=0 vtid=2 vpid=1 procname=\"one\"\n"
                   "150 0 app:work_end n=1 vtid=2 vpid=1 procname=\"one\"\n"
                   "160 1 app:work_end n=1 vtid=2 vpid=9 procname=\"nine\"\n");
    run_read(&run, NULL);
    check(&run, "thread 2 ",
          "1 waiting for lock 0x10 (pid 1) 20-30\n0 app:work 0-50\n0 app:work 10-60\n");
    check(&run, "lock lock 0x10 (pid 1) ", "0 one (2) 30-40\n");
    check(&run, "lock lock 0x10 (pid 9) ", "0 nine (2) 25-60\n");
    check(&run, "lock lock 0x20 (pid 7) ",
          "0 thread 7 (7) 31-35\n1 thread 8 (8) 37-38\n0 thread 8 (8) 35-39\n");
    check(&run, "cpu ", "");
    const struct fm_lane *nine = fm_state_find_lane(run.state, FM_LANE_PROCESS, 9);
    g_autofree char *label = fm_state_lane_label(run.state, nine);
    g_assert_cmpstr(label, ==, "nine (pid 9)");
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 0);
    run_done(&run);
    run_open(&run, "100 0 sched_switch prev_comm=\"swapper/0\" prev_tid=0 prev_state=0 "
                   "next_comm=\"a\" next_tid=7 vtid=7 vpid=7\n"
                   "110 0 app:work_begin n=1 vtid=7 vpid=7\n"
                   "120 0 syscall_entry_read fd=1 vtid=7 vpid=7\n"
                   "130 0 app:work_end n=1 vtid=7 vpid=7\n"
                   "150 1 app:tick n=1\n");
    run_read(&run, NULL);
    check(&run, "thread 7 ", "0 running 0-20\n0 app:work 10-30\n0 read 20-50\n");
    check(&run, "mark ", "programs on CPU 1 app:tick 50\n");
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 0);
    run_done(&run);
}

int a_traced_function(int x);
__attribute__((noinline)) int a_traced_function(int x)
{
    return x * 5 + 2;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

/* Functions of this program, of one whose file is another build, and of one that is not there; in
 * process 6 nothing lies at these addresses. A function keeps the name that it was entered with. */
static void test_functions_have_names(void)
{
    struct run run;
    uint64_t base = 0, address = (uint64_t)(uintptr_t)a_traced_function;
    g_assert_cmpint(a_traced_function(1), ==, 7);
    dl_iterate_phdr(first_object, &base);
    g_autofree char *text = g_strdup_printf(
        "context vtid vpid\n"
        "100 0 lttng_ust_cyg_profile:func_entry addr=0x900100 call_site=0 vtid=7 vpid=5\n"
        "101 0 lttng_ust_statedump:bin_info baddr=0x%" PRIx64 " memsz=0x10000000 is_pic=1 "
        "path=\"/proc/self/exe\" vtid=7 vpid=5\n"
        "102 0 lttng_ust_lib:load baddr=0x900000 memsz=0x1000 path=\"/nowhere/libhello.so\" vtid=7 "
        "vpid=5\n"
        "103 0 lttng_ust_statedump:bin_info baddr=0x800000 memsz=0x1000 is_pic=0 "
        "path=\"/nowhere/main\" vtid=7 vpid=5\n"
        "110 0 lttng_ust_cyg_profile:func_entry addr=0x%" PRIx64 " call_site=0 vtid=7 vpid=5\n"
        "111 0 lttng_ust_cyg_profile:func_exit addr=0x%" PRIx64 " call_site=0 vtid=7 vpid=5\n"
        "120 0 lttng_ust_cyg_profile:func_entry addr=0x900156 call_site=0 vtid=7 vpid=5\n"
        "121 0 lttng_ust_cyg_profile:func_exit addr=0x900156 call_site=0 vtid=7 vpid=5\n"
        "130 0 lttng_ust_cyg_profile:func_entry addr=0x800bdc call_site=0 vtid=7 vpid=5\n"
        "131 0 lttng_ust_cyg_profile:func_exit addr=0x800bdc call_site=0 vtid=7 vpid=5\n"
        "140 0 lttng_ust_statedump:build_id baddr=0x%" PRIx64 " build_id=[1,2,254] vtid=7 vpid=5\n"
        "150 0 lttng_ust_cyg_profile:func_entry addr=0x%" PRIx64 " call_site=0 vtid=7 vpid=5\n"
        "151 0 lttng_ust_cyg_profile:func_exit addr=0x%" PRIx64 " call_site=0 vtid=7 vpid=5\n"
        "160 0 lttng_ust_cyg_profile:func_exit addr=0x900100 call_site=0 vtid=7 vpid=5\n"
        "170 0 lttng_ust_cyg_profile:func_entry addr=0x900156 call_site=0 vtid=8 vpid=6\n"
        "171 0 lttng_ust_cyg_profile:func_exit addr=0x900156 call_site=0 vtid=8 vpid=6\n",
        base, address, address, base, address, address);
    run_open(&run, text);
    run_read(&run, NULL);
    g_autofree char *lines = g_strdup_printf(
        "1 a_traced_function 10-11\n1 libhello.so+0x156 20-21\n1 main@0x800bdc 30-31\n"
        "1 exe+0x%" PRIx64 " 50-51\n0 0x900100 0-60\n",
        address - base);
    check(&run, "thread 7 ", lines);
    check(&run, "thread 8 ", "0 0x900156 70-71\n");
    g_assert_cmpuint(fm_state_inconsistent(run.state), ==, 0);
    run_done(&run);
}

static void check_filter(struct run *run, const char *filter, const char *expected)
{
    run_read(run, filter);
    if (strcmp(run->accepted->str, expected) != 0)
        g_error("%s accepts at %s, expected %s", filter, run->accepted->str, expected);
}

/* Filters see the state after the event. */
static void test_filters(void)
{
    struct run run;
    run_open(&run, processes);
    check_filter(&run, "state.pid = 20", "130 140 150 155 160 180 190 200 210 ");
    check_filter(&run, "state.process_name = make", "155 160 180 190 200 210 ");
    check_filter(&run, "state.tgid = 10 & event.cpu = 1", "170 ");
    check_filter(&run, "state.thread_brand = worker", "170 ");
    check_filter(&run, "state.ppid = 10 & event.name = syscall*", "140 150 160 190 ");
    check_filter(&run, "state.execution_mode = SYSCALL & state.pid = 20",
                 "130 150 155 190 200 210 ");
    check_filter(&run, "state.execution_submode = execve", "150 155 ");
    check_filter(&run, "state.process_status = EXIT", "200 210 ");
    check_filter(&run, "state.value = wait4 | state.value = read", "110 230 300 ");
    check_filter(&run, "state.class = \"system call\" & state.cpu = 1", "130 150 155 190 200 210 ");
    check_filter(&run, "state.creation_time = 90ns & event.time > 200ns", "210 ");
    check_filter(&run, "state.depth = 1 & state.pid = 20", "130 140 150 155 160 180 190 200 210 ");
    check_filter(&run, "state.depth > 1", "");
    check_filter(&run, "lane.kind = thread & lane.key = 11", "170 ");
    check_filter(&run, "lane.name = swapper/1", "220 ");
    check_filter(&run, "state.since = 150ns", "150 155 ");
    check_filter(&run, "event.target_pid = 20", "90 95 130 140 150 155 160 180 190 200 250 ");
    check_filter(&run, "event.field.prev_state >= 128", "220 270 ");
    check_filter(&run, "event.field.sched_switch.next_tid = 11", "170 ");
    run_done(&run);
}

/* In any order nothing breaks, entries end after they begin, stacks are empty or end with it. */
static void test_any_order(void)
{
    static const char *const shapes[] = {
        "sched_switch prev_comm=\"a\" prev_tid=%d prev_state=%d next_comm=\"b\" next_tid=%d\n",
        "syscall_entry_read fd=%d x=%d y=%d\n",
        "syscall_exit_read ret=%d x=%d y=%d\n",
        "irq_handler_entry irq=%d name=\"n\" x=%d y=%d\n",
        "irq_handler_exit irq=%d x=%d y=%d\n",
        "irq_softirq_raise vec=%d x=%d y=%d\n",
        "irq_softirq_entry vec=%d x=%d y=%d\n",
        "irq_softirq_exit vec=%d x=%d y=%d\n",
        "sched_process_fork child_tid=%d child_pid=%d parent_tid=%d child_comm=\"c\"\n",
        "sched_process_exit tid=%d x=%d y=%d\n",
        "sched_process_free tid=%d x=%d y=%d\n",
        "sched_wakeup comm=\"w\" tid=%d x=%d y=%d\n",
        "block_rq_issue dev=%d rwbs=%d y=%d\n",
        "block_rq_complete dev=%d x=%d y=%d\n",
        "lttng_statedump_process_state tid=%d type=%d status=%d name=\"d\"\n",
        "kthread_create pid=%d x=%d y=%d\n",
        "trap_entry trap_id=%d x=%d y=%d\n",
        "trap_exit x=%d y=%d z=%d\n",
        "statedump_end x=%d y=%d z=%d\n",
    };
    static const int states[] = {0, 1, 2, 16, 32, 64, 128, 256};
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < 4000; i++) {
        unsigned shape = (unsigned)g_test_rand_int_range(0, G_N_ELEMENTS(shapes));
        int middle = shape == 0 ? states[g_test_rand_int_range(0, 8)] : g_test_rand_int_range(0, 8);
        g_string_append_printf(text, "%u %d ", 1000 + i, g_test_rand_int_range(0, 3));
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
            g_string_append_printf(text, shapes[shape], g_test_rand_int_range(0, 5), middle,
                                   g_test_rand_int_range(0, 5));
        _Pragma("GCC diagnostic pop")
    }
    struct run run;
    run_open(&run, text->str);
    run_read(&run, "event.time >= 0");
    g_auto(GStrv) lines = g_strsplit(run.segments->str, "\n", -1);
    unsigned segments = 0;
    for (unsigned i = 0; lines[i] != NULL; i++) {
        const char *dash = strrchr(lines[i], '-'), *blank = strrchr(lines[i], ' ');
        if (dash == NULL || blank > dash)
            continue;
        g_assert_cmpuint(g_ascii_strtoull(blank + 1, NULL, 10), <=,
                         g_ascii_strtoull(dash + 1, NULL, 10));
        segments++;
    }
    g_assert_cmpuint(segments, >, 1000);
    for (uint32_t i = 0; i < fm_state_lane_count(run.state); i++)
        g_assert_cmpuint(fm_state_lane(run.state, i)->depth, <, 3000);
    run_done(&run);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kernel/processes", test_processes);
    g_test_add_func("/kernel/interrupts and disks", test_interrupts);
    g_test_add_func("/kernel/old events", test_old);
    g_test_add_func("/kernel/programs", test_programs);
    g_test_add_func("/kernel/rows of programs", test_program_rows);
    g_test_add_func("/kernel/functions", test_functions_have_names);
    g_test_add_func("/kernel/filters on the state", test_filters);
    g_test_add_func("/kernel/any order", test_any_order);
    return g_test_run();
}
