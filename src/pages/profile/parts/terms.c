/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that pages say differently about Mercury and C programs. */
#include "pages/profile/parts/terms.h"

static const struct fm_terms mercury = {
    .proc = "procedure",
    .procs = "procedures",
    .proc_title = "Procedure",
    .module = "module",
    .modules = "modules",
    .module_title = "Module",
    .modules_title = "Modules",
    .runtime = "the runtime",
    .runtime_module = "Mercury runtime",
    .site_kinds =
        {
            [FM_SITE_NORMAL] = "call",
            [FM_SITE_SPECIAL] = "special call",
            [FM_SITE_HIGHER_ORDER] = "higher order call",
            [FM_SITE_METHOD] = "method call",
            [FM_SITE_CALLBACK] = "callback",
            [FM_SITE_UNKNOWN] = "calls at unknown places",
        },
    .callseqs_title = "Call sequence numbers",
    .callseqs_order = "callseqs",
    .callseqs_kind = "call sequence numbers",
    .words_kind = "words allocated",
    .excps_title = "Excps",
    .qualify = "module qualify predicate and function names",
    .higher_order_calls = "higher order calls",
    .explore_root = "Exploring the call graph, starting at the root.",
    .explore_modules = "Exploring the program module by module.",
    .clique_count = "Cliques:",
    .ports_title = "Port counts",
    .ticks = {"Quanta per second:", "Quanta in user code:", "Quanta in instrumentation:",
              "Total quanta:"},
    .recursion = "clique",
    .clique = "clique",
    .clique_title = "Clique",
    .csd_count = "CallSiteDynamic structures:",
    .pd_count = "ProcDynamic structures:",
    .css_count = "CallSiteStatic structures:",
    .ps_count = "ProcStatic structures:",
    .has_fails = true,
};

static const struct fm_terms c_words = {
    .proc = "function",
    .procs = "functions",
    .proc_title = "Function",
    .module = "file",
    .modules = "files",
    .module_title = "File",
    .modules_title = "Files",
    .runtime = "the system",
    .runtime_module = "",
    .site_kinds =
        {
            [FM_SITE_NORMAL] = "call",
            [FM_SITE_SPECIAL] = "special call",
            [FM_SITE_HIGHER_ORDER] = "call through pointer",
            [FM_SITE_METHOD] = "virtual call",
            [FM_SITE_CALLBACK] = "callback",
            [FM_SITE_UNKNOWN] = "calls at unknown places",
        },
    .callseqs_title = "Calls with those below",
    .callseqs_order = "calls",
    .callseqs_kind = "calls",
    .words_kind = "bytes allocated",
    .excps_title = "Exceptional exits",
    .qualify = "put the file before function names",
    .higher_order_calls = "calls through pointers",
    .explore_root = "Exploring the call graph, starting at the threads.",
    .explore_modules = "Exploring the program file by file.",
    .clique_count = "Contexts, a recursion as one:",
    .ports_title = "Calls",
    .ticks = {"Ticks per second:", "Ticks in the program:", "Ticks in recording:", "All ticks:"},
    .recursion = "recursion",
    .clique = "context",
    .clique_title = "Context",
    .csd_count = "Call edges in context:",
    .pd_count = "Functions in context:",
    .css_count = "Call sites:",
    .ps_count = "Functions:",
    .has_fails = false,
};

const struct fm_terms *fm_terms_of(enum fm_flavour flavour)
{
    return flavour == FM_FLAVOUR_C ? &c_words : &mercury;
}

const char *fm_terms_cost_kind(const struct fm_terms *terms, enum fm_cost_kind kind)
{
    g_return_val_if_fail(terms != NULL, NULL);
    switch (kind) {
    case FM_BY_CALLS:
        return "number of calls";
    case FM_BY_REDOS:
        return "number of redos";
    case FM_BY_TIME:
        return "time";
    case FM_BY_CALLSEQS:
        return terms->callseqs_kind;
    case FM_BY_ALLOCS:
        return "memory allocations";
    case FM_BY_WORDS:
        return terms->words_kind;
    case FM_BY_FURTHER:
        break; /* no address has it */
    }
    g_assert_not_reached();
}
