/* SPDX-License-Identifier: Apache-2.0 */
/* Messages found in traces: kernels' segments and datagrams, spans that go from one program to
 * another; and a trace of an event log with a corrected clock. */
#include <glib/gstdio.h>
#include <poll.h>
#include <string.h>

#include "ctf_text.h"
#include "trace/format/open.h"
#include "trace/clock/synchronize.h"

struct found {
    GString *text;
};

static void on_message(void *user, unsigned from, uint64_t sent, unsigned to, uint64_t received)
{
    struct found *found = user;
    g_string_append_printf(found->text, "%u:%" G_GUINT64_FORMAT ">%u:%" G_GUINT64_FORMAT " ", from,
                           sent, to, received);
}

static void on_exchange(void *user, unsigned a, uint64_t sent, unsigned b, uint64_t received,
                        uint64_t answered, uint64_t answer_received)
{
    struct found *found = user;
    g_string_append_printf(found->text,
                           "%u:%" G_GUINT64_FORMAT ">%u:%" G_GUINT64_FORMAT "<%" G_GUINT64_FORMAT
                           "-%" G_GUINT64_FORMAT " ",
                           a, sent, b, received, answered, answer_received);
}

static void on_broadcast(void *user, const uint64_t *times)
{
    struct found *found = user;
    g_string_append_printf(found->text, "all:%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT " ",
                           times[0], times[1]);
}

static char *parent;

static struct fm_trace *open_text(const char *name, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_build_filename(parent, name, NULL);
    ctf_write(folder, text);
    struct fm_trace *trace = fm_trace_open(folder, name, &error);
    g_assert_no_error(error);
    bool ended = !fm_trace_grows(trace);
    while (!ended) {
        struct pollfd wait = {.fd = fm_trace_poll_fd(trace), .events = POLLIN};
        if (wait.fd >= 0)
            poll(&wait, 1, 1000);
        fm_trace_grow(trace, &ended, &error);
        g_assert_no_error(error);
    }
    return trace;
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

#define SEGMENT(seq, ack_seq, len, flags)                                                          \
    " saddr=0x1 daddr=0x2 tot_len=" #len " ihl=5 source=80 dest=90 seq=" #seq " ack_seq=" #ack_seq \
    " doff=5 " flags "\n"
#define BACK(seq, ack_seq, len, flags)                                                             \
    " saddr=0x2 daddr=0x1 tot_len=" #len " ihl=5 source=90 dest=80 seq=" #seq " ack_seq=" #ack_seq \
    " doff=5 " flags "\n"
#define PLAIN "ack=0 rst=0 syn=0 fin=0"
#define ACK "ack=1 rst=0 syn=0 fin=0"

static void test_kernel_messages(void)
{
    struct found found = {g_string_new(NULL)};
    struct fm_message_counts counts;
    struct fm_trace *traces[] = {
        open_text(
            "a",
            "1000 0 start\n"
            "1010 0 dev_xmit_extended skb=0x10" SEGMENT(
                100, 1, 140,
                PLAIN) "1020 0 dev_xmit_extended skb=0x11" SEGMENT(200, 1, 140,
                                                                   PLAIN) "1030 0 "
                                                                          "dev_xmit_extended "
                                                                          "skb=0x11" SEGMENT(
                                                                              300, 1, 140,
                                                                              PLAIN) "1040 0 "
                                                                                     "dev_receive "
                                                                                     "skb=0x20 "
                                                                                     "protocol="
                                                                                     "2048\n"
                                                                                     "1045 0 "
                                                                                     "tcpv4_rcv_"
                                                                                     "extended "
                                                                                     "skb="
                                                                                     "0x20" BACK(
                                                                                         1, 300, 40,
                                                                                         ACK) "1050"
                                                                                              " "
                                                                                              "0 "
                                                                                              "dev_"
                                                                                              "rece"
                                                                                              "i"
                                                                                              "ve "
                                                                                              "skb="
                                                                                              "0x30"
                                                                                              " "
                                                                                              "prot"
                                                                                              "o"
                                                                                              "col="
                                                                                              "2048"
                                                                                              "\n"
                                                                                              "1051"
                                                                                              " "
                                                                                              "0 "
                                                                                              "udpv"
                                                                                              "4"
                                                                                              "_rcv"
                                                                                              "_"
                                                                                              "exte"
                                                                                              "n"
                                                                                              "ded "
                                                                                              "skb="
                                                                                              "0x30"
                                                                                              " "
                                                                                              "sadd"
                                                                                              "r"
                                                                                              "=0x9"
                                                                                              " "
                                                                                              "dadd"
                                                                                              "r"
                                                                                              "=0xf"
                                                                                              "f"
                                                                                              " uni"
                                                                                              "c"
                                                                                              "ast="
                                                                                              "0 "
                                                                                              "ulen"
                                                                                              "="
                                                                                              "16 "
                                                                                              "sour"
                                                                                              "c"
                                                                                              "e=5 "
                                                                                              "dest"
                                                                                              "="
                                                                                              "5 "
                                                                                              "data"
                                                                                              "_"
                                                                                              "star"
                                                                                              "t"
                                                                                              "=0x7"
                                                                                              "7"
                                                                                              "\n"
                                                                                              "1060"
                                                                                              " "
                                                                                              "0 "
                                                                                              "tcpv"
                                                                                              "4"
                                                                                              "_rcv"
                                                                                              "_"
                                                                                              "exte"
                                                                                              "n"
                                                                                              "ded "
                                                                                              "skb="
                                                                                              "0x9"
                                                                                              "9" BACK(
                                                                                                  9,
                                                                                                  9,
                                                                                                  40,
                                                                                                  ACK)),
        open_text("b", "5000 0 start\n"
                       "5110 0 dev_receive skb=0x10 protocol=2048\n"
                       "5111 0 tcpv4_rcv_extended skb=0x10" SEGMENT(
                           100, 1, 140, PLAIN) "5120 0 dev_receive skb=0x10 protocol=2048\n"
                                               "5122 0 tcpv4_rcv_extended skb=0x10" SEGMENT(
                                                   200, 1, 140,
                                                   PLAIN) "5130 0 dev_xmit_extended "
                                                          "skb=0x10" BACK(1, 300, 40,
                                                                          ACK) "5140 0 "
                                                                               "dev_receive "
                                                                               "skb=0x30 "
                                                                               "protocol=2048\n"
                                                                               "5141 0 "
                                                                               "udpv4_rcv_"
                                                                               "extended "
                                                                               "skb=0x30 "
                                                                               "saddr=0x9 "
                                                                               "daddr=0xff "
                                                                               "unicast=0 "
                                                                               "ulen=16 "
                                                                               "source=5 dest=5 "
                                                                               "data_start=0x77\n"
                                                                               "5150 0 "
                                                                               "dev_receive "
                                                                               "skb=0x31 "
                                                                               "protocol="
                                                                               "33024\n"),
    };
    const struct fm_message_sink sink = {
        .user = &found, .message = on_message, .exchange = on_exchange, .broadcast = on_broadcast};
    g_assert_true(fm_messages_of_traces(traces, 2, &sink, NULL, NULL, &counts));
    /* Times of reception are the device's; in the order in which the second half was read. The
     * exchange is of the last segment that was acknowledged: 200, not 300. */
    g_assert_cmpstr(found.text->str, ==,
                    "0:10>1:110 0:20>1:120 1:130>0:40 0:20>1:120<130-40 all:50,140 ");
    g_assert_cmpuint(counts.matched, ==, 3);
    g_assert_cmpuint(counts.unmatched, ==, 1);
    g_assert_cmpuint(counts.lost, ==, 1);
    g_assert_cmpuint(counts.broadcasts, ==, 1);
    g_string_free(found.text, TRUE);
    fm_trace_free(traces[0]);
    fm_trace_free(traces[1]);
}

/* Spans from one program to another synchronize two traces; then the times of one are corrected. */
static void test_program_messages(void)
{
    struct fm_message_counts counts;
    struct fm_correction corrections[2];
    g_autoptr(GError) error = NULL;
    struct fm_trace *traces[] = {
        open_text("c", "1000 0 AsyncBegin name=\"to b\" id=1\n"
                       "3000 0 AsyncEnd name=\"to a\" id=1\n"
                       "8000 0 AsyncBegin name=\"to b\" id=2\n"
                       "9000 0 AsyncEnd name=\"to a\" id=2\n"
                       "9500 0 AsyncBegin name=\"own\" id=3\n"
                       "9600 0 AsyncEnd name=\"own\" id=3\n"),
        open_text("d", "70000 0 other\n"
                       "71000 0 AsyncEnd name=\"to b\" id=1\n"
                       "71500 0 AsyncBegin name=\"to a\" id=1\n"
                       "77600 0 AsyncEnd name=\"to b\" id=2\n"
                       "77700 0 AsyncBegin name=\"to a\" id=2\n"),
    };
    struct fm_synchronize *synchronize = fm_synchronize_new(2, FM_SYNCHRONIZE_HULL);
    struct fm_message_sink sink = fm_synchronize_sink(synchronize);
    g_assert_true(fm_messages_of_traces(traces, 2, &sink, NULL, NULL, &counts));
    g_assert_cmpuint(counts.matched, ==, 5);
    fm_synchronize_solve(synchronize, corrections);
    g_assert_cmpint(fm_synchronize_pair_of(synchronize, 0, 1)->status, ==, FM_SYNCHRONIZE_ACCURATE);
    g_assert_cmpuint(fm_synchronize_pair_of(synchronize, 0, 1)->messages, ==, 4);
    for (unsigned i = 0; i < 2; i++)
        g_assert_true(fm_trace_set_correction(traces[i], corrections[i], &error));
    /* Read again with corrected times: no message is inverted. */
    struct fm_evaluate *evaluate = fm_evaluate_new(2, NULL);
    sink = fm_evaluate_sink(evaluate);
    g_assert_true(fm_messages_of_traces(traces, 2, &sink, NULL, NULL, &counts));
    g_assert_cmpuint(fm_evaluate_result(evaluate)->messages, ==, 4);
    g_assert_cmpfloat(fm_evaluate_result(evaluate)->worst_inversion_ns, <=, 1);
    fm_evaluate_free(evaluate);
    fm_synchronize_free(synchronize);
    fm_trace_free(traces[0]);
    fm_trace_free(traces[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    parent = g_dir_make_tmp("fathom-test-messages-XXXXXX", NULL);
    g_test_add_func("/messages/kernels", test_kernel_messages);
    g_test_add_func("/messages/programs", test_program_messages);
    int status = g_test_run();
    remove_tree(parent);
    g_free(parent);
    return status;
}
