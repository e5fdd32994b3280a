/* SPDX-License-Identifier: Apache-2.0 */
/* Who may quit the server. */
#include "serve/serve.h"

static const struct {
    const char *why;
    struct fm_request_source source;
    bool foreign;
} cases[] = {
    {"a link of our own page", {.host = "localhost:1", .fetch_site = "same-origin"}, false},
    {"an address typed in", {.host = "localhost:1", .fetch_site = "none"}, false},
    {"a link of another site", {.host = "localhost:1", .fetch_site = "cross-site"}, true},
    {"a page at another port of this machine",
     {.host = "localhost:1", .fetch_site = "same-site"},
     true},
    {"curl", {.host = "localhost:1", .user_agent = "curl/7.88"}, false},
    {"an old browser that does not say",
     {.host = "localhost:1", .user_agent = "Mozilla/5.0"},
     true},
    {"an old browser on our page",
     {.host = "localhost:1", .user_agent = "Mozilla/5.0", .referer = "http://localhost:1/deep?x"},
     false},
    {"an old browser on another site",
     {.host = "localhost:1", .user_agent = "Mozilla/5.0", .referer = "http://evil.example/"},
     true},
    {"a host that only begins like ours",
     {.host = "localhost:1", .user_agent = "Mozilla/5.0", .referer = "http://localhost:12/"},
     true},
    {"a form of another site",
     {.host = "localhost:1", .fetch_site = "none", .origin = "http://evil.example"},
     true},
    {"a form of ours", {.host = "localhost:1", .origin = "http://localhost:1"}, false},
    {"a form of a page without origin", {.host = "localhost:1", .origin = "null"}, true},
    {"a prefetch of our own page",
     {.host = "localhost:1", .fetch_site = "same-origin", .purpose = "prefetch;prerender"},
     true},
};

static void who_may_change_the_server(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].why);
        g_assert_cmpint(fm_request_is_foreign(&cases[i].source), ==, cases[i].foreign);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/request/foreign", who_may_change_the_server);
    return g_test_run();
}
