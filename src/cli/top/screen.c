/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/screen.h"

#include <curses.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/utf8.h"
#include "cli/cli.h"
#include "cli/top/terminal.h"

#define HEAD_LINES 3   /* above the table's rows */
#define ALL_NUMBERS 77 /* columns in front of the names, where there is room for all */
#define SOME_NUMBERS 52
#define NAME_COLUMNS 22 /* that a name has at least */

struct screen {
    struct fm_top *top;
    int chosen, first; /* rows: the one that the keys are for, the first that is shown */
    bool paused, searching, help;
    bool told_end;
};

static volatile sig_atomic_t ended_by;

static void on_signal(int number)
{
    ended_by = number;
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void catch_signals(struct sigaction *old)
{
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < G_N_ELEMENTS(ending); i++)
        sigaction(ending[i], &action, &old[i]);
}

static void restore_signals(const struct sigaction *old)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ending); i++)
        sigaction(ending[i], &old[i], NULL);
}

/* --- what is drawn --- */

static void put(int line, attr_t how, const char *text)
{
    int width = getmaxx(stdscr);
    if (line < 0 || line >= getmaxy(stdscr))
        return;
    attrset(how);
    move(line, 0);
    addnstr(text, (int)strlen(text));
    for (int at = getcurx(stdscr); how != A_NORMAL && getcury(stdscr) == line && at < width - 1;
         at++)
        addch(' ');
    attrset(A_NORMAL);
}

/* As many characters as fit: control characters made visible. */
static void put_cut(int line, attr_t how, const char *text)
{
    g_autoptr(GString) clean = g_string_new(NULL);
    fm_utf8_append_clean(clean, text);
    long width = getmaxx(stdscr) - 1;
    if (width > 0 && g_utf8_strlen(clean->str, -1) > width)
        g_string_truncate(clean, (gsize)(g_utf8_offset_to_pointer(clean->str, width) - clean->str));
    put(line, how, clean->str);
}

static double ticks_of(const struct screen *screen, const struct fm_followed_counts *counts)
{
    return fm_followed_ticks(screen->top->watch, counts->of[FM_FOLLOWED_QUANTA]);
}

/* For times; events are integers. */
static int decimals_of(const struct screen *screen)
{
    return fm_raw_tick_words(&screen->top->watch->header) == NULL ? 3 : 0;
}

/* On narrow screens, some numbers are left out in favour of the name. */
static bool has_room(int numbers)
{
    return getmaxx(stdscr) >= numbers + NAME_COLUMNS;
}

/* "-": not recorded. */
static char *waited_text(const struct screen *screen, const struct fm_followed_counts *counts)
{
    return fm_followed_has_waits(screen->top->watch)
               ? g_strdup_printf("%.3f", (double)counts->of[FM_FOLLOWED_WAIT_NS] * 1e-9)
               : g_strdup("-");
}

static char *held_text(const struct screen *screen, const struct fm_followed_counts *counts)
{
    return fm_followed_has_held(screen->top->watch) ? fm_top_bytes_text(fm_followed_held(counts))
                                                    : g_strdup("-");
}

/* "-": not recorded. */
static char *calls_text(const struct screen *screen, const struct fm_followed_counts *counts)
{
    return fm_followed_has_calls(screen->top->watch)
               ? g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)counts->of[FM_FOLLOWED_CALLS])
               : g_strdup("-");
}

static char *allocs_text(const struct screen *screen, const struct fm_followed_counts *counts)
{
    return fm_followed_has_allocs(screen->top->watch)
               ? g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)counts->of[FM_FOLLOWED_ALLOCS])
               : g_strdup("-");
}

static char *rate_text(const struct fm_top_row *row)
{
    return row->calls_a_second < 0 ? g_strdup("") : g_strdup_printf("%.0f", row->calls_a_second);
}

/* The one number that the rows are sorted by, where there is room for one. */
static char *sorted_text(const struct screen *screen, const struct fm_top_row *row)
{
    switch (screen->top->order) {
    case FM_TOP_RATE:
        return rate_text(row);
    case FM_TOP_WAITING:
        return waited_text(screen, &row->self);
    case FM_TOP_HELD:
        return held_text(screen, &row->self);
    case FM_TOP_TOTAL:
        return g_strdup_printf("%.*f", decimals_of(screen), ticks_of(screen, &row->total));
    case FM_TOP_ALLOCS:
        return allocs_text(screen, &row->self);
    case FM_TOP_BYTES:
        return fm_followed_has_allocs(screen->top->watch)
                   ? fm_top_bytes_text((int64_t)row->self.of[FM_FOLLOWED_BYTES])
                   : g_strdup("-");
    default:
        return calls_text(screen, &row->self);
    }
}

static char *row_text(const struct screen *screen, const struct fm_top_row *row)
{
    const struct fm_top *top = screen->top;
    double all = ticks_of(screen, &top->all), self = ticks_of(screen, &row->self);
    int decimals = decimals_of(screen);
    double percent = all > 0 ? self * 100 / all : 0;
    g_autofree char *calls = calls_text(screen, &row->self);
    g_autofree char *waited = waited_text(screen, &row->self);
    g_autofree char *held = held_text(screen, &row->self);
    if (!has_room(SOME_NUMBERS)) {
        g_autofree char *sorted = sorted_text(screen, row);
        return g_strdup_printf("%9.*f %5.1f %12s %s", decimals, self, percent, sorted, row->name);
    }
    if (!has_room(ALL_NUMBERS))
        return g_strdup_printf("%9.*f %5.1f %12s %9s %10s %s", decimals, self, percent, calls,
                               waited, held, row->name);
    g_autofree char *rate = rate_text(row), *allocs = allocs_text(screen, &row->self);
    return g_strdup_printf("%9.*f %5.1f %9.*f %12s %10s %8s %7s %10s %s", decimals, self, percent,
                           decimals, ticks_of(screen, &row->total), calls, rate, waited, allocs,
                           held, row->name);
}

static const char *sorted_title(const struct screen *screen)
{
    static const char *const titles[FM_TOP_ORDERS] = {
        [FM_TOP_TOTAL] = "total",   [FM_TOP_RATE] = "calls/s", [FM_TOP_WAITING] = "wait s",
        [FM_TOP_ALLOCS] = "allocs", [FM_TOP_BYTES] = "bytes",  [FM_TOP_HELD] = "held",
    };
    const char *own = titles[screen->top->order];
    return own != NULL ? own : "calls";
}

static char *title(const struct screen *screen)
{
    bool seconds = decimals_of(screen) > 0;
    const char *self = seconds ? "self s" : "self", *total = seconds ? "total s" : "total";
    if (!has_room(SOME_NUMBERS))
        return g_strdup_printf("%9s %5s %12s function", self, "%", sorted_title(screen));
    if (!has_room(ALL_NUMBERS))
        return g_strdup_printf("%9s %5s %12s %9s %10s function", self, "%", "calls", "wait s",
                               "held");
    return g_strdup_printf("%9s %5s %9s %12s %10s %8s %7s %10s function", self, "%", total, "calls",
                           "calls/s", "wait s", "allocs", "held");
}

static guint row_count(const struct screen *screen)
{
    return screen->top->rows->len + screen->top->callees->len;
}

static const struct fm_top_row *row_at(const struct screen *screen, guint index)
{
    const struct fm_top *top = screen->top;
    return index < top->rows->len
               ? &g_array_index(top->rows, struct fm_top_row, index)
               : &g_array_index(top->callees, struct fm_top_row, index - top->rows->len);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void draw_head(const struct screen *screen)
{
    const struct fm_top *top = screen->top;
    const char *state = !top->running                          ? "ended"
                        : top->watch->header.recording_on == 0 ? "running, recording stopped"
                                                               : "running";
    g_autofree char *head = g_strdup_printf("%s: process %u %s, %s%.1f s%s", top->watch->path,
                                            fm_raw_header_process(&top->watch->header), state,
                                            top->since != NULL ? "since the mark " : "",
                                            fm_top_seconds(top), screen->paused ? "  PAUSED" : "");
    const char *unit = fm_raw_tick_words(&top->watch->header);
    g_autofree char *waited = waited_text(screen, &top->all);
    g_autofree char *held = held_text(screen, &top->all);
    g_autofree char *calls = calls_text(screen, &top->all);
    g_autofree char *sums = g_strdup_printf(
        "%.*f %s, %s s waited, %s%s held, %s "
        "call%s, %u context%s, %u thread%s; by %s%s%s",
        decimals_of(screen), ticks_of(screen, &top->all), unit != NULL ? unit : "s CPU", waited,
        held, strchr(held, ' ') == NULL && held[0] != '-' ? " bytes" : "", calls,
        plural(top->all.of[FM_FOLLOWED_CALLS]), top->watch->context_count,
        plural(top->watch->context_count), top->watch->thread_count,
        plural(top->watch->thread_count), fm_top_order_word(top->order),
        top->search[0] != '\0' || screen->searching ? "; search: " : "", top->search);
    put_cut(0, A_BOLD, head);
    put_cut(1, A_NORMAL, sums);
    g_autofree char *columns = title(screen);
    put_cut(2, A_REVERSE, columns);
}

static void draw_foot(const struct screen *screen)
{
    const char *keys =
        screen->searching ? "type a part of a name; Enter: keep it, Esc: all"
        : screen->top->function != FM_FOLLOWED_NONE
            ? "Enter open  Esc back  s t c r w a b m n sort  space pause  z since  q quit"
            : "Enter open  / search  s t c r w a b m n sort  space pause  z since  "
              "? help  q quit";
    put_cut(getmaxy(stdscr) - 1, A_REVERSE, keys);
}

static void draw_help(void)
{
    static const char *const lines[] = {
        "s t c r w a b m n  sort by self time, total, calls, calls a second, waiting, allocations,",
        "                 bytes, live memory, name",
        "Up Down PgUp PgDn Home End, j k   choose a row",
        "Enter            callers and callees of the chosen function",
        "Esc, Backspace   back",
        "/                search: names that contain the text",
        "space            pause, go on",
        "z                counts since now; Z: since the beginning",
        "q                quit",
        "Times are sampled CPU time; unfinished waits do not count yet.",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
        put_cut(HEAD_LINES + (int)i, A_NORMAL, lines[i]);
}

/* For one function: its callers, itself, its callees. */
static void draw_rows(struct screen *screen)
{
    const struct fm_top *top = screen->top;
    int count = (int)row_count(screen), lines = getmaxy(stdscr) - HEAD_LINES - 1;
    bool opened = top->function != FM_FOLLOWED_NONE;
    lines -= opened ? 3 : 0;
    screen->chosen = CLAMP(screen->chosen, 0, MAX(count - 1, 0));
    screen->first = CLAMP(screen->first, screen->chosen - lines + 1, screen->chosen);
    screen->first = MAX(screen->first, 0);
    int line = HEAD_LINES;
    if (opened)
        put_cut(line++, A_BOLD, "called by");
    for (int i = screen->first; i <= count && i < screen->first + lines; i++) {
        if (opened && i == (int)top->rows->len) {
            g_autofree char *text = row_text(screen, &top->one);
            put_cut(line++, A_BOLD, text);
            put_cut(line++, A_BOLD, "calls");
        }
        if (i == count)
            break;
        g_autofree char *text = row_text(screen, row_at(screen, (guint)i));
        put_cut(line++, i == screen->chosen ? A_STANDOUT : A_NORMAL, text);
    }
    if (count == 0 && !opened)
        put_cut(line, A_NORMAL,
                top->search[0] != '\0' ? "no function's name contains that"
                                       : "nothing has been recorded yet");
}

static void draw(struct screen *screen)
{
    erase();
    draw_head(screen);
    if (screen->help)
        draw_help();
    else
        draw_rows(screen);
    draw_foot(screen);
    refresh();
}

/* --- keys --- */

static bool sort_key(struct screen *screen, int key)
{
    static const char keys[FM_TOP_ORDERS + 1] = "stcrwabmn";
    const char *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;
    if (at == NULL)
        return false;
    screen->top->order = (enum fm_top_order)(at - keys);
    fm_top_arrange(screen->top);
    return true;
}

static void set_search(struct screen *screen, const char *text)
{
    g_free(screen->top->search);
    screen->top->search = g_strdup(text);
    screen->chosen = screen->first = 0;
    fm_top_arrange(screen->top);
}

/* Bytes of a character that is not whole yet are not there for the search. */
static void search_key(struct screen *screen, int key)
{
    g_autoptr(GString) text = g_string_new(screen->top->search);
    if (key == '\n' || key == KEY_ENTER || key == '\r') {
        screen->searching = false;
    } else if (key == 27) {
        screen->searching = false;
        set_search(screen, "");
    } else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && text->len > 0) {
        const char *last = g_utf8_find_prev_char(text->str, text->str + text->len);
        g_string_truncate(text, last == NULL ? 0 : (gsize)(last - text->str));
        set_search(screen, text->str);
    } else if (key >= 32 && key < 127 && text->len < 100) {
        g_string_append_c(text, (char)key);
        set_search(screen, text->str);
    }
}

static void open_function(struct screen *screen, uint32_t function)
{
    screen->top->function = function;
    screen->chosen = screen->first = 0;
    set_search(screen, "");
}

static void move_key(struct screen *screen, int key)
{
    int page = MAX(getmaxy(stdscr) - HEAD_LINES - 2, 1);
    if (key == KEY_DOWN || key == 'j')
        screen->chosen++;
    else if (key == KEY_UP || key == 'k')
        screen->chosen--;
    else if (key == KEY_NPAGE)
        screen->chosen += page;
    else if (key == KEY_PPAGE)
        screen->chosen -= page;
    else if (key == KEY_HOME)
        screen->chosen = 0;
    else if (key == KEY_END)
        screen->chosen = (int)row_count(screen) - 1;
}

/* False: the user wants to end. */
static bool on_key(struct screen *screen, int key)
{
    struct fm_top *top = screen->top;
    if (screen->searching) {
        search_key(screen, key);
        return true;
    }
    bool was_help = screen->help;
    screen->help = false;
    if (key == 'q')
        return false;
    if (key == '?' || key == 'h')
        screen->help = !was_help;
    else if (key == ' ')
        screen->paused = !screen->paused;
    else if (key == 'z' || key == 'Z')
        fm_top_since_now(top, key == 'z');
    else if (key == '/')
        screen->searching = true;
    else if ((key == '\n' || key == '\r' || key == KEY_ENTER) && row_count(screen) > 0)
        open_function(screen, row_at(screen, (guint)screen->chosen)->function);
    else if ((key == 27 || key == KEY_BACKSPACE || key == 127) && !was_help)
        open_function(screen, FM_FOLLOWED_NONE);
    else if (!sort_key(screen, key))
        move_key(screen, key);
    return true;
}

static bool run(struct screen *screen, double delay, GError **error)
{
    gint64 every = (gint64)(delay * 1e6), next = g_get_monotonic_time() + every;
    bool ok = true;
    while (ended_by == 0) {
        draw(screen);
        gint64 left = next - g_get_monotonic_time();
        timeout((int)CLAMP(left / 1000, 0, 1000));
        int key = getch();
        if (key == KEY_RESIZE) /* the terminal may have changed its contents */
            clearok(curscr, TRUE);
        if (key != ERR && key != KEY_RESIZE && !on_key(screen, key))
            break;
        if (g_get_monotonic_time() < next)
            continue;
        next = g_get_monotonic_time() + every;
        /* The last reading has all of a program that ended. */
        if (screen->paused || (!screen->top->running && screen->told_end))
            continue;
        screen->told_end = !screen->top->running;
        ok = fm_top_read(screen->top, error);
        if (!ok)
            break;
    }
    return ok;
}

int fm_top_screen(struct fm_top *top, double delay, GError **error)
{
    struct screen screen = {.top = top};
    struct sigaction old[G_N_ELEMENTS(ending)];
    /* First, as ncurses has handlers of its own for signals that have none; and not initscr(),
     * which ends the program when the terminal is not known. */
    catch_signals(old);
    fm_terminal_note();
    SCREEN *terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL)
        restore_signals(old);
    if (terminal == NULL)
        return fm_console_usage("top", "unknown terminal \"%s\"; use --batch",
                                getenv("TERM") != NULL ? getenv("TERM") : "");
    fm_terminal_guard();
    set_escdelay(25);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    bool ok = run(&screen, delay, error);
    endwin();
    fm_terminal_release();
    delscreen(terminal);
    restore_signals(old);
    if (ended_by != 0) {
        fflush(NULL);
        raise(ended_by);
    }
    return ok ? FM_EXIT_DONE : FM_EXIT_FAILED;
}
