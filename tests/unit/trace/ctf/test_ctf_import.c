/* SPDX-License-Identifier: Apache-2.0 */
/* CTF traces, written by the babeltrace2 library, turned into event logs: every event with every
 * field, in order; damaged ones as far as they can be read. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctf_importing.h"
#include "ctf_text.h"
#include "trace/ctf/ctf_import.h"
#include "trace/format/open.h"

static void test_fields(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "a trace", NULL);
    ctf_write(folder,
              "context vtid\n"
              "1700000000000000000 1 first a=12 b=-1 h=0x1f t=\"a b\" r=1.5 l=[1,2,3] "
              "w=<label:3> vtid=7\n"
              "1700000000000000005 0 tick vtid=8\n"
              "1700000000000000005 3 second first=-9223372036854775808 text=\"\" vtid=9\n"
              "1700000001500000000 1 first a=13 b=-2 h=0x20 t=\"\xc3\xa4\" r=-2.5 l=[4,5,6] "
              "w=<label:4> vtid=10\n");
    struct ctf_import import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_true(import.log->tail.end_mark);
    g_autofree char *events = ctf_events_of(&import);
    g_assert_cmpstr(
        events, ==,
        "   0.000000000    1 first a=12 b=-1 h=0x1f t=\"a b\" r=1.5 l=\"[1,2,3]\" w=3 "
        "w.label=\"label\" vtid=7\n"
        "   0.000000005    0 tick vtid=8\n"
        "   0.000000005    3 second first=-9223372036854775808 text=\"\" vtid=9\n"
        "   1.500000000    1 first a=13 b=-2 h=0x20 t=\"\xc3\xa4\" r=-2.5 l=\"[4,5,6]\" "
        "w=4 w.label=\"\" vtid=10\n");
    g_assert_cmpstr(import.importer.notes->str, ==, "");
    g_assert_true(import.importer.has_epoch);
    g_assert_cmpint(import.importer.epoch_ns, ==, 1700000000000000000);
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

/* Two traces with a type in common, in folders below one: one log, one number for the type. */
static void test_session(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *kernel = g_build_filename(parent, "session", "kernel", NULL);
    g_autofree char *user = g_build_filename(parent, "session", "ust", "uid", "64-bit", NULL);
    g_autofree char *session = g_build_filename(parent, "session", NULL);
    g_autofree char *above = g_path_get_dirname(user);
    g_mkdir_with_parents(session, 0700);
    g_mkdir_with_parents(above, 0700);
    ctf_write(kernel, "100 0 tick n=1\n300 0 tick n=3\n500 1 tock n=5\n");
    ctf_write(user, "200 0 tick n=2\n400 1 tick n=4\n");
    struct ctf_import import = ctf_import_folder(session);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_true(import.log->tail.end_mark);
    g_autofree char *events = ctf_events_of(&import);
    g_assert_cmpstr(events, ==,
                    "   0.000000000    0 tick n=1\n"
                    "   0.000000100    0 tick n=2\n"
                    "   0.000000200    0 tick n=3\n"
                    "   0.000000300    1 tick n=4\n"
                    "   0.000000400    1 tock n=5\n");
    const struct fm_eventlog_header *header = import.log->headers->pdata[0];
    g_assert_cmpuint(header->declared->len, ==, 3); /* block markers, tick, tock */
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

/* Enough for several rounds: no block holds anything earlier than an earlier round. */
static void test_rounds(void)
{
    enum { EVENTS = 60000 };
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autoptr(GString) text = g_string_new("packet 500\n");
    for (unsigned i = 0; i < EVENTS; i++)
        g_string_append_printf(text, "%u %u tick n=%u name=\"some text\"\n", 10 + i / 2, i % 3, i);
    ctf_write(folder, text->str);
    struct ctf_import import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_true(import.log->tail.end_mark);
    g_assert_cmpuint(import.log->counts->events, ==, EVENTS);
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(import.log);
    struct fm_eventlog_event event;
    for (unsigned i = 0; i < EVENTS; i += 1) {
        struct fm_eventlog_value value;
        g_assert_true(fm_eventlog_merge_next(merge, &event, NULL));
        g_assert_cmpuint(event.time_ns, ==, i / 2);
        g_assert_true(fm_eventlog_field(&event, "n", &value));
        /* Of two at one time the one on the lesser capability comes first. */
        g_assert_cmpuint(value.number / 2, ==, i / 2);
        g_assert_cmpint(event.capability, ==, (int)(value.number % 3));
    }
    g_assert_false(fm_eventlog_merge_next(merge, &event, NULL));
    fm_eventlog_merge_free(merge);
    uint64_t round_end = 0;
    const struct fm_eventlog_block *blocks =
        (const struct fm_eventlog_block *)(void *)import.log->blocks->data;
    for (guint i = 0; i < import.log->blocks->len; i += 3) {
        for (guint j = i; j < i + 3; j++) {
            g_assert_cmpuint(blocks[j].end_ns, ==, blocks[i].end_ns);
            g_assert_cmpuint(blocks[j].begin_ns, >=, round_end);
        }
        round_end = blocks[i].end_ns;
    }
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

/* --- damage --- */

static void write_damaged(const char *folder)
{
    g_autoptr(GString) text = g_string_new("packet 100\n");
    for (unsigned i = 0; i < 2000; i++)
        g_string_append_printf(text, "%u %u tick n=%u\n", 1000 + i, i % 2, i);
    ctf_write(folder, text->str);
}

static void test_truncated(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *stream = g_build_filename(folder, "stream", NULL);
    write_damaged(folder);
    GStatBuf before;
    g_assert_cmpint(g_stat(stream, &before), ==, 0);
    g_assert_cmpint(truncate(stream, before.st_size - 10), ==, 0);
    struct ctf_import import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_true(import.log->tail.end_mark);
    /* 1,000 of the other stream, 9 packets of this one. */
    g_assert_cmpuint(import.log->counts->events, ==, 1900);
    g_assert_nonnull(strstr(import.importer.notes->str, "stream: damaged: "));
    g_assert_nonnull(
        strstr(import.importer.notes->str, "(it has 10 packets that can be told apart)"));
    ctf_import_done(&import);

    g_assert_cmpint(truncate(stream, 100), ==, 0); /* not one packet is whole */
    import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_true(import.log->tail.end_mark);
    g_assert_cmpuint(import.log->counts->events, ==, 1000);
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

static void overwrite(const char *path, goffset at, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(pwrite(fd, bytes, length, at), ==, (gssize)length);
    close(fd);
}

/* The identity in the fifth packet's head is wrong: only that packet is lost. */
static void test_corrupt_packet(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *stream = g_build_filename(folder, "stream-0", NULL);
    write_damaged(folder);
    g_autofree char *bytes;
    gsize length;
    g_assert_true(g_file_get_contents(stream, &bytes, &length, NULL));
    size_t at = 0;
    for (unsigned packet = 0; packet < 4; packet++) {
        const char *next = memmem(bytes + at + 4, length - at - 4, bytes, 20);
        g_assert_nonnull(next);
        at = (size_t)(next - bytes);
    }
    /* Packet and content size. */
    overwrite(stream, (goffset)at + 24, "\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\xff", 12);
    struct ctf_import import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_true(import.log->tail.end_mark);
    g_assert_cmpuint(import.log->counts->events, ==, 1900);
    g_assert_nonnull(strstr(import.importer.notes->str, "stream-0: damaged: "));
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

static void test_nothing(void)
{
    g_autofree char *parent = ctf_parent_new();
    struct ctf_import import = ctf_import_folder(parent);
    g_assert_nonnull(import.error);
    g_assert_nonnull(strstr(import.error, "no folder with \"metadata\" in it"));
    ctf_import_done(&import);
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *metadata = g_build_filename(folder, "metadata", NULL);
    write_damaged(folder);
    g_assert_true(g_file_set_contents(metadata, "/* CTF 1.8 */\ntrace {{", -1, NULL));
    import = ctf_import_folder(folder);
    g_assert_nonnull(import.error);
    g_assert_null(import.log);
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

/* --- metadata in packets --- */

static void append_packet(GByteArray *to, const char *text, size_t length, uint32_t size_bytes)
{
    const uint8_t rest[5] = {0, 0, 0, 1, 8};
    uint8_t head[32] = {0};
    uint32_t magic = 0x75D11D57, content = (uint32_t)(37 + length) * 8, size = size_bytes * 8;
    memcpy(head, &magic, 4);
    memcpy(head + 24, &content, 4);
    memcpy(head + 28, &size, 4);
    guint begin = to->len;
    g_byte_array_append(to, head, sizeof head);
    g_byte_array_append(to, rest, sizeof rest);
    g_byte_array_append(to, (const uint8_t *)text, (guint)length);
    while (to->len < begin + size_bytes)
        g_byte_array_append(to, (const uint8_t *)"", 1);
}

enum { METADATA_TEXT = 411, METADATA_PACKET = 512 };

/* The text metadata that the library has written, as a tracer writes it: packets of 512 bytes. */
static GByteArray *to_packets(const char *path)
{
    g_autofree char *text;
    gsize length;
    GByteArray *packets = g_byte_array_new();
    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    /* The packets tell the identity of the trace; none stands for any. */
    for (gsize at = 0; at < length; at += METADATA_TEXT)
        append_packet(packets, text + at, MIN(METADATA_TEXT, length - at), METADATA_PACKET);
    g_assert_cmpuint(packets->len, >, 2 * METADATA_PACKET);
    return packets;
}

static const char two_types[] = "1 0 first a=1\n2 0 second b=2\n3 0 first a=3\n";

/* A tracer was killed while it wrote metadata: it ends anywhere. The import ends, says where, and
 * reads what is described by then. */
static void test_cut_metadata(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *metadata = g_build_filename(folder, "metadata", NULL);
    ctf_write(folder, two_types);
    g_autoptr(GByteArray) packets = to_packets(metadata);
    unsigned whole = 0, part = 0, told = 0;
    for (guint cut = 64; cut < packets->len; cut += 96) {
        g_assert_true(
            g_file_set_contents(metadata, (const char *)packets->data, (gssize)cut, NULL));
        struct ctf_import import = ctf_import_folder(folder);
        bool says = import.error != NULL
                        ? strstr(import.error, "the file is cut: ") != NULL
                        : strstr(import.importer.notes->str, "metadata: offset ") != NULL;
        g_assert_true(says || cut % METADATA_PACKET == 0);
        told += says;
        whole += import.log != NULL && import.log->counts->events == 3;
        part += import.log != NULL && import.log->counts->events == 1;
        ctf_import_done(&import);
    }
    g_assert_cmpuint(told, >, 0);
    g_assert_cmpuint(whole, >, 0); /* the cut lies in the padding of the last packet */
    g_assert_cmpuint(part, >, 0);  /* within the second type: an event of it ends the reading */
    ctf_parent_remove(parent);
}

/* Sizes that cannot be, in the second packet. */
static void test_wrong_metadata_sizes(void)
{
    static const uint32_t wrong[] = {0, 7, 8 * 36, 8 * 513, UINT32_MAX, UINT32_MAX - 7};
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *metadata = g_build_filename(folder, "metadata", NULL);
    ctf_write(folder, two_types);
    g_autoptr(GByteArray) packets = to_packets(metadata);
    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(wrong); i++) {
        guint8 *field = packets->data + METADATA_PACKET + (i % 2 == 0 ? 24 : 28);
        uint32_t right;
        memcpy(&right, field, 4);
        memcpy(field, &wrong[i / 2], 4);
        g_assert_true(
            g_file_set_contents(metadata, (const char *)packets->data, (gssize)packets->len, NULL));
        memcpy(field, &right, 4);
        struct ctf_import import = ctf_import_folder(folder);
        const char *said = import.error != NULL ? import.error : import.importer.notes->str;
        g_assert_nonnull(strstr(said, "metadata: offset "));
        ctf_import_done(&import);
    }
    ctf_parent_remove(parent);
}

/* What the library may do without end is ended by the kernel. */
static void test_work_is_limited(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        fm_ctf_limit_work(1);
        for (volatile unsigned i = 0;; i++)
            ;
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF);
}

/* Opening does not wait for what takes long, and an import that is broken off leaves nothing. */
static void test_opened_before_begun(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *program = g_build_filename(parent, "fathom-import-ctf", NULL);
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *before = g_strdup(g_getenv("FATHOM_LIBEXEC"));
    ctf_write(folder, two_types);
    g_assert_true(g_file_set_contents(program, "#!/bin/sh\nexec sleep 1000\n", -1, NULL));
    g_assert_cmpint(g_chmod(program, 0700), ==, 0);
    g_setenv("FATHOM_LIBEXEC", parent, TRUE);
    GError *error = NULL;
    struct fm_trace *trace = fm_ctf_open(folder, -1, &error);
    g_assert_no_error(error);
    bool ended;
    g_assert_true(fm_trace_grows(trace));
    g_assert_false(fm_trace_grow(trace, &ended, &error));
    g_assert_no_error(error);
    g_assert_false(ended);
    g_assert_cmpint(fm_trace_poll_fd(trace), >=, 0);
    fm_trace_free(trace);
    if (before != NULL)
        g_setenv("FATHOM_LIBEXEC", before, TRUE);
    else
        g_unsetenv("FATHOM_LIBEXEC");
    ctf_parent_remove(parent);
}

/* Killed, it cannot take its files away: whoever waits for it does. */
static void test_killed(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *program = g_build_filename(parent, "fathom-import-ctf", NULL);
    g_autofree char *before = g_strdup(g_getenv("FATHOM_LIBEXEC"));
    g_assert_true(g_file_set_contents(program,
                                      "#!/bin/sh\nmkdir \"$FATHOM_CTF_SCRATCH/x\" && "
                                      ">\"$FATHOM_CTF_SCRATCH/x/y\" && kill -9 $$\n",
                                      -1, NULL));
    g_assert_cmpint(g_chmod(program, 0700), ==, 0);
    g_setenv("FATHOM_LIBEXEC", parent, TRUE);
    struct ctf_import import = ctf_import_folder(parent);
    g_assert_cmpstr(import.error, ==, "the import ended before it began");
    g_assert_null(import.importer.scratch);
    ctf_import_done(&import);
    if (before != NULL)
        g_setenv("FATHOM_LIBEXEC", before, TRUE);
    else
        g_unsetenv("FATHOM_LIBEXEC");
    ctf_parent_remove(parent); /* asserts that nothing is left */
}

/* The folder's name leads elsewhere when the import begins, and so does one of its files. */
static void test_exchanged(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *in = g_build_filename(parent, "in", NULL);
    g_autofree char *folder = g_build_filename(in, "trace", NULL);
    g_autofree char *moved = g_build_filename(in, "moved", NULL);
    g_autofree char *secret = g_build_filename(parent, "secret", NULL);
    g_autofree char *secret_file = g_build_filename(secret, "stream", NULL);
    g_autofree char *more = g_build_filename(folder, "more", NULL);
    GError *error = NULL;
    g_mkdir(in, 0700);
    ctf_write(folder, "1 0 ours n=1\n2 0 ours n=2\n");
    ctf_write(secret, "1 0 theirs n=3\n");
    g_autoptr(FmRoots) roots = fm_roots_new();
    g_assert_true(fm_roots_add(roots, in, &error));
    g_assert_cmpint(symlink(secret_file, more), ==, 0);
    int opened = fm_roots_open(roots, folder, O_DIRECTORY, &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_rename(folder, moved), ==, 0);
    g_assert_cmpint(symlink(secret, folder), ==, 0);
    struct ctf_import import = ctf_import_opened(folder, opened);
    g_assert_cmpstr(import.error, ==, NULL);
    g_autofree char *events = ctf_events_of(&import);
    g_assert_nonnull(strstr(events, "ours"));
    g_assert_null(strstr(events, "theirs"));
    g_assert_cmpuint(import.log->counts->events, ==, 2);
    g_assert_nonnull(strstr(import.importer.notes->str, "trace/more: a link that leads out"));
    ctf_import_done(&import);
    close(opened);
    g_unlink(folder);
    ctf_parent_remove(parent);
}

/* Any byte of a stream may be wrong: it ends, and what is told of is an event log. */
static void test_any_damage(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *stream = g_build_filename(folder, "stream", NULL);
    ctf_write(folder,
              "packet 2\n1 0 a t=\"x\" l=[1,2]\n2 0 b n=1\n3 0 a t=\"y\" l=[3,4]\n4 0 b n=2\n"
              "5 0 a t=\"z\" l=[5,6]\n");
    g_autofree char *bytes;
    gsize length;
    g_assert_true(g_file_get_contents(stream, &bytes, &length, NULL));
    for (gsize at = 0; at < length; at += 3) {
        char wrong = (char)(bytes[at] ^ 0x91);
        overwrite(stream, (goffset)at, &wrong, 1);
        struct ctf_import import = ctf_import_folder(folder);
        g_assert_true(import.log != NULL || import.error != NULL);
        if (import.log != NULL) {
            g_assert_cmpuint(import.log->counts->events, <=, 64);
            g_free(ctf_events_of(&import));
        }
        ctf_import_done(&import);
        overwrite(stream, (goffset)at, bytes + at, 1);
    }
    ctf_parent_remove(parent);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ctf/every field of every event", test_fields);
    g_test_add_func("/ctf/a session of several traces is one", test_session);
    g_test_add_func("/ctf/rounds ascend", test_rounds);
    g_test_add_func("/ctf/truncated", test_truncated);
    g_test_add_func("/ctf/a corrupt packet", test_corrupt_packet);
    g_test_add_func("/ctf/nothing to read", test_nothing);
    g_test_add_func("/ctf/cut metadata", test_cut_metadata);
    g_test_add_func("/ctf/metadata packets of wrong sizes", test_wrong_metadata_sizes);
    g_test_add_func("/ctf/work is limited", test_work_is_limited);
    g_test_add_func("/ctf/opened before it has begun", test_opened_before_begun);
    g_test_add_func("/ctf/killed", test_killed);
    g_test_add_func("/ctf/exchanged for links", test_exchanged);
    g_test_add_func("/ctf/any damage", test_any_damage);
    return g_test_run();
}
