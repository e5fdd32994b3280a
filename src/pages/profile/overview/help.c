/* SPDX-License-Identifier: Apache-2.0 */
/* help/TERM: meanings of the words on pages, the requested one first; "all" requests none. */
#include "pages/profile/overview/overview.h"

#include <string.h>

#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

struct term {
    const char *word, *meaning;
    /* meaning in Mercury's deep profiler and its papers; NULL = the same */
    const char *original;
};

static const struct term c_terms[] = {
    {"allocated", "Bytes requested from malloc and its relatives here, freed or not.",
     "words, memory"},
    {"call graph",
     "Boxes are functions, arrows calls; the number counts them. Darker boxes have a larger share "
     "of the program in their own code.",
     NULL},
    {"calls", "Number of calls. Counted, not sampled.", "port counts"},
    {"calls below", "Calls made to it and to everything below it.", "call sequence numbers"},
    {"checks", "Sums computed in two ways that must be equal; the page About has them.",
     "invariants"},
    {"context", "A call path: the calls that lead from main to a function.",
     "clique of one procedure"},
    {"coverage", "How often the code of each line ran.", NULL},
    {"CPU time", "Time on a processor. Waiting is not in it.", "time"},
    {"each", "Calls made for one call of the row above. 241 means a loop.", NULL},
    {"entered", "How often a recursion was called from outside of it.", NULL},
    {"file", "The .c file that holds the function.", "module"},
    {"flame graph",
     "Each box is a function in one context, below its caller; its width is its total. The part of "
     "a box without boxes below it is its self cost. Boxes are ordered by size only.",
     NULL},
    {"few", "Fewer than ten samples: too few for a cost of one call.", NULL},
    {"freed", "Bytes freed by this code, wherever they were allocated.", NULL},
    {"function", "A function of the program, in all its contexts.", "procedure, proc static"},
    {"left early",
     "Calls that did not return to their caller: left by longjmp, exit or an exception.",
     "exceptional exits"},
    {"path", "The functions from main to a context; a recursion is one step of it.", NULL},
    {"per call", "Divided by the calls of this row.", NULL},
    {"recording", "Spent by fathom, not by your program, and left out of all figures.",
     "quanta in instrumentation"},
    {"recursion",
     "Functions that call each other, shown as \u27f2 name +n. Counted as one, so that nothing is "
     "counted twice and no share exceeds 100 %.",
     "clique of several procedures"},
    {"sample", "A moment, usually one of 250 a second, at which the running function was noted.",
     "quantum, clock tick"},
    {"self", "Spent in the function's own code, without callees.", "own cost"},
    {"total", "Self and everything it calls, directly or not.", "self and descendants"},
    {"within",
     "The cost of a function within a recursion, whichever call led to it. The share of each call "
     "below that row is not known.",
     NULL},
    {"wrapper", "A function that only allocates for its callers; paths of memory leave it out.",
     NULL},
    {"\u00b1",
     "Twice the standard deviation of a number of samples: 95 of 100 runs would lie within it.",
     NULL},
};

static const struct term mercury_terms[] = {
    {"body",
     "A procedure's code as Deep.procrep keeps it: before optimisation for the machine, after mode "
     "analysis.",
     "representation"},
    {"call edge",
     "The calls made at one call site in one context to one callee. All measured costs are stored "
     "here.",
     "call site dynamic, csd"},
    {"call sequence number",
     "The number of the call when all calls of the run are counted in order: a measure of work "
     "that does not depend on a clock.",
     "callseq, call sequence numbers"},
    {"call site", "A place in a procedure's source that calls; its slot is its number there.",
     "call site static, css"},
    {"clique",
     "Contexts that call each other in a cycle; most cliques hold a single one. A clique's costs "
     "add to those of the clique that called it, so the program is a tree of cliques.",
     NULL},
    {"context",
     "A procedure as it was called along one chain of call sites. Recursion makes no new ones: a "
     "call to a procedure that is already active leads back to its context.",
     "proc dynamic, pd"},
    {"contour", "The modules that the callers page sees through: X.contour beside X.data.", NULL},
    {"coverage point", "A counter in the code: before an arm, or after a goal.", NULL},
    {"determinism",
     "How many solutions a goal has: det one, semidet at most one, multi and nondet many (nondet "
     "perhaps none), erroneous and failure none, cc_ committed to the first.",
     NULL},
    {"goal",
     "A part of a body: unification, call, conjunction, disjunction, switch, if-then-else, "
     "negation, scope.",
     NULL},
    {"goal path",
     "The way from a body to a goal: c2;s1-na;?; is the condition of the first arm of the second "
     "conjunct. c conjunct, d disjunct, s arm, ? t e condition, then, else, ~ negation, q scope "
     "(q! one that cuts).",
     NULL},
    {"module", "A module of the program.", NULL},
    {"port",
     "How a call is entered and left: call, exit (success), fail, redo (asked for another "
     "solution), exception. Calls = exits + fails + exceptions - redos.",
     "calls, exits, fails, redos, excps, port counts"},
    {"procedure", "A mode of a predicate or function, in all its contexts.", "proc static, ps"},
    {"quanta", "Ticks of the profiler's clock that struck in a procedure's own code.",
     "quantum, clock tick"},
    {"self", "The procedure's own cost, without its callees.", "own cost"},
    {"total", "Its own cost and that of everything it calls.", "self and descendants"},
};

/* text: as in an address, where a dash may replace a blank. */
static bool asked_for(const struct term *term, const char *asked)
{
    g_autofree char *text = g_strdelimit(g_strdup(asked), "-", ' ');
    if (g_ascii_strcasecmp(term->word, text) == 0)
        return true;
    g_auto(GStrv) others = g_strsplit(term->original ? term->original : "", ", ", -1);
    for (unsigned i = 0; others[i] != NULL; i++) { /* "clique" is that of several procedures, too */
        size_t size = strlen(text);
        if (size > 0 && g_str_has_prefix(others[i], text) &&
            (others[i][size] == '\0' || others[i][size] == ' '))
            return true;
    }
    return false;
}

/* For an imported profile, the kind of time is not known. */
static const char *meaning_of(const struct fm_page *page, const struct term *term)
{
    if (strcmp(term->word, "CPU time") == 0 && fm_profile_is(page->profile, FM_NATURE_CLOCK))
        return "Time as the imported file has it: of a clock, or of waits. It is not known to be "
               "time on a processor.";
    if (strcmp(term->word, "allocated") == 0 &&
        fm_profile_is(page->profile, FM_NATURE_HEAP_SAMPLED))
        return "Bytes allocated here: an estimate from samples, each of which stands for many.";
    return term->meaning;
}

static void add_asked(struct fm_page *page, const struct term *terms, unsigned count)
{
    bool found = false;
    for (unsigned i = 0; i < count; i++) {
        if (!asked_for(&terms[i], page->query.command.name))
            continue;
        fm_add_heading(page->body, terms[i].word);
        fm_add_text(page->body, meaning_of(page, &terms[i]));
        found = true;
    }
    if (found || strcmp(page->query.command.name, "all") == 0)
        return;
    g_autofree char *text = g_strdup_printf("There is no word \"%s\" here; these are explained:",
                                            page->query.command.name);
    fm_add_text(page->body, text);
}

bool fm_page_help(struct fm_page *page, GError **error)
{
    bool c = page->profile->flavour == FM_FLAVOUR_C;
    const struct term *terms = c ? c_terms : mercury_terms;
    unsigned count = c ? G_N_ELEMENTS(c_terms) : G_N_ELEMENTS(mercury_terms);
    (void)error;
    fm_page_begin(page, "help", g_strdup("Glossary"));
    add_asked(page, terms, count);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "glossary");
    fm_table_group(table, "Word", FM_COLUMN_FIELD_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "word", NULL);
    fm_table_group(table, "Meaning", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "meaning", NULL);
    fm_table_group(table, "In papers and queries", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "original", NULL);
    for (unsigned i = 0; i < count; i++) {
        struct fm_query query = fm_page_link(page, FM_CMD_HELP, 0);
        query.command.name = (char *)(uintptr_t)terms[i].word;
        fm_table_row(table, "term", false);
        fm_cell_link(table, &query, terms[i].word, FM_STYLE_PLAIN);
        fm_cell_string(table, meaning_of(page, &terms[i]), FM_STYLE_PLAIN);
        fm_cell_string(table, terms[i].original ? terms[i].original : "", FM_STYLE_PLAIN);
    }
    fm_controls_general(page);
    return true;
}
