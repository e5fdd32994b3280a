/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/findings.h"

#include "record/finish/notes.h"

/* For which there was no room. */
static uint64_t calls_lost(const struct fm_raw_recording *recording)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < recording->csd_count; i++)
        if (recording->pds[recording->csds[i].callee].fn == FM_REC_FN_LOST)
            lost += recording->csds[i].calls;
    return lost;
}

/* Says when the program entered a sandbox, and what is not recorded since then. */
static void find_sandbox(const struct fm_raw_recording *recording, struct fm_finish_notes *notes)
{
    static const struct {
        uint32_t flag;
        const char *words;
    } parts[] = {
        {FM_REC_SANDBOX_TICKS, "where CPU time goes"},
        {FM_REC_SANDBOX_WAITS, "waiting"},
        {FM_REC_SANDBOX_QUEUED, "how long threads waited for a processor"},
        {FM_REC_SANDBOX_CLOCK, "durations to less than some milliseconds"},
    };
    const struct fm_rec_header *header = &recording->header;
    if (header->sandbox_since_ns == 0)
        return;
    bool timed = recording->traced[0] != '\0' || (header->grade_flags & FM_REC_LIFETIMES) != 0;
    g_autoptr(GString) off = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if ((header->sandbox_off & parts[i].flag) != 0 &&
            (parts[i].flag != FM_REC_SANDBOX_CLOCK || timed))
            g_string_append_printf(off, "%s%s", off->len > 0 ? ", " : "", parts[i].words);
    unsigned without_ticks = 0;
    for (uint32_t i = 0; i < recording->thread_count; i++)
        without_ticks += recording->threads[i].without_ticks &&
                         recording->threads[i].start_ns > header->sandbox_since_ns;
    if ((header->sandbox_off & FM_REC_SANDBOX_TICKS) == 0 &&
        (header->sandbox_off & FM_REC_SANDBOX_NEW_TICKS) != 0 && without_ticks > 0)
        g_string_append_printf(off, "%swhere the CPU time of %u later threads goes",
                               off->len > 0 ? ", " : "", without_ticks);
    double after = (double)fm_raw_less(header->sandbox_since_ns, header->start_monotonic_ns) / 1e9;
    fm_notes_add(
        notes,
        "the program entered a sandbox (seccomp) %.2f s after its start, and the recording "
        "makes no system calls that it forbids%s%s",
        after, off->len > 0 ? ". Not recorded from then on: " : "", off->str);
    if (header->sandbox_missed != 0)
        fm_notes_add(notes,
                     "%" G_GUINT64_FORMAT " calls in signal handlers are not counted: in the "
                     "sandbox they interrupted the recording itself",
                     (guint64)header->sandbox_missed);
    if (header->sandbox_left != 0)
        fm_notes_add(notes,
                     "%u thread%s recorded only until a signal handler left, by longjmp, the "
                     "recording that it had interrupted in the sandbox",
                     header->sandbox_left, header->sandbox_left == 1 ? " is" : "s are");
}

static void find_refused_timer(const struct fm_rec_header *header, struct fm_finish_notes *notes)
{
    if ((header->sandbox_off & FM_REC_NO_CPU_TIMER) != 0)
        fm_notes_add(notes,
                     "nothing was sampled: the system gives no timer of CPU time (timer_create), "
                     "so where time went is not recorded; a container's or a service's filter of "
                     "system calls may forbid it");
}

static void find_lost_children(const struct fm_rec_header *header, struct fm_finish_notes *notes)
{
    if (header->children_lost == 0)
        return;
    bool confined = (header->sandbox_off & FM_REC_SANDBOX_CHILDREN) != 0;
    fm_notes_add(
        notes,
        "%u process%s that the program forked %s not recorded, as %s could not create a "
        "recording file (%s): what %s did is in no profile",
        header->children_lost, header->children_lost == 1 ? "" : "es",
        header->children_lost == 1 ? "is" : "are", header->children_lost == 1 ? "it" : "they",
        confined ? "the sandbox forbids it" : "after chroot or setuid, or a limit, perhaps",
        header->children_lost == 1 ? "it" : "they");
}

/* How well the contexts are known that are not those of hooks. */
static void find_stacks(const struct fm_rec_header *header, struct fm_finish_notes *notes)
{
    if (header->stacks == 0)
        return;
    g_autofree char *guessed =
        header->frames_guessed == 0
            ? g_strdup("")
            : g_strdup_printf("; %" G_GUINT64_FORMAT " frame%s in %" G_GUINT64_FORMAT
                              " of them %s, as the code has no unwind information",
                              (guint64)header->frames_guessed,
                              header->frames_guessed == 1 ? "" : "s",
                              (guint64)header->stacks_guessed,
                              header->frames_guessed == 1 ? "is a guess" : "are guesses");
    fm_notes_add(
        notes,
        "not built with `fathom cc`: calls are not counted, contexts are those of "
        "%" G_GUINT64_FORMAT " stacks (samples, allocations, waits), %.1f %% of them complete%s",
        (guint64)header->stacks,
        100.0 * (double)fm_raw_less(header->stacks, header->stacks_cut) / (double)header->stacks,
        guessed);
}

void fm_findings_of_recording(const struct fm_raw_recording *recording, const char *again,
                              struct fm_finish_notes *notes)
{
    const struct fm_rec_header *header = &recording->header;
    uint64_t charges = 0, unmatched = 0, dropped = 0;
    notes->live = fm_raw_recording_is_live(recording);
    notes->killed = header->state == FM_REC_RUNNING && !notes->live && header->snapshot_of == 0;
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        if (recording->csds[i].caller != FM_RAW_NONE)
            notes->calls += recording->csds[i].calls;
    }
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        charges += recording->threads[i].charges;
        unmatched += recording->threads[i].exits_unmatched;
        dropped += recording->threads[i].calls_dropped;
        notes->threads += !recording->threads[i].before;
    }
    notes->samples = charges;
    notes->unwound = (header->grade_flags & FM_REC_UNWOUND) != 0;
    notes->not_instrumented = notes->calls == 0 && !notes->unwound;
    if (header->dropped_nodes != 0 || dropped != 0) {
        uint64_t lost = calls_lost(recording);
        fm_notes_add(
            notes,
            "the recording was full (disk, limit or addresses): the contexts of %" G_GUINT64_FORMAT
            " calls had no room; these calls and their costs are under \"not recorded\"",
            (guint64)(lost + dropped));
    }
    if (header->dropped_points != 0)
        fm_notes_add(notes, "the recording was full: code without a count may have run");
    if (header->wait_dropped != 0)
        fm_notes_add(notes,
                     "the recording was full: %" G_GUINT64_FORMAT
                     " calls that can wait, and their waits, are not counted",
                     (guint64)header->wait_dropped);
    if (header->blame_dropped != 0)
        fm_notes_add(notes,
                     "the lock and its holder are not recorded for %" G_GUINT64_FORMAT
                     " waits: there were too many",
                     (guint64)header->blame_dropped);
    if (header->wait_backwards != 0)
        fm_notes_add(notes, "%" G_GUINT64_FORMAT " waits have no time: the clock ran backwards",
                     (guint64)header->wait_backwards);
    if (header->dropped_threads != 0)
        fm_notes_add(notes, "%" G_GUINT64_FORMAT " threads are not in the recording",
                     (guint64)header->dropped_threads);
    if (unmatched != 0)
        fm_notes_add(
            notes, "%" G_GUINT64_FORMAT " exits had no entry (%s)", (guint64)unmatched,
            (header->grade_flags & FM_REC_WAS_STOPPED) != 0
                ? "recording was stopped then"
                : "of calls made before the recording began, or on stacks that the program "
                  "switches by itself: sums of such calls are exact, their contexts may be wrong");
    find_stacks(header, notes);
    find_sandbox(recording, notes);
    find_refused_timer(&recording->header, notes);
    find_lost_children(header, notes);
    g_autofree char *alone = g_strdup_printf("fathom finish %s", recording->path);
    if (notes->live)
        fm_notes_add(notes,
                     "the program still runs (process %u): this is the profile so far; `%s` makes "
                     "it again when it has ended",
                     fm_raw_header_process(header), again != NULL ? again : alone);
    if (notes->killed && notes->calls > 0)
        fm_notes_add(notes, "the program ended without exit(): open functions count as left by an "
                            "exceptional exit");
}

void fm_findings_of_run(unsigned lost, struct fm_finish_notes *notes)
{
    if (lost == 1)
        fm_notes_add(notes, "the recording of 1 process that the program forked was removed while "
                            "it ran: that process is in no profile");
    else if (lost > 1)
        fm_notes_add(notes,
                     "the recordings of %u processes that the program forked were removed while it "
                     "ran: those processes are in no profile",
                     lost);
}

#define NAMELESS_NAMED 8

/* Files whose names are missing, and how to get them. */
static void find_nameless(const struct fm_images *images, struct fm_finish_notes *notes)
{
    g_autoptr(GString) names = g_string_new(NULL);
    unsigned count = 0;
    for (guint i = 0; i < images->all->len; i++) {
        const struct fm_image *image = fm_images_at(images, i);
        if (image->nameless == 0 || (image->raw->flags & FM_REC_MODULE_VDSO) != 0)
            continue;
        if (count++ < NAMELESS_NAMED)
            g_string_append_printf(names, "%s%s (%u)", names->len > 0 ? ", " : "", image->name,
                                   image->nameless);
    }
    if (count > NAMELESS_NAMED)
        g_string_append_printf(names, " and %u more", count - NAMELESS_NAMED);
    if (count > 0)
        fm_notes_add(notes,
                     "functions without names, shown by address: %s; debug files name them: "
                     "install PACKAGE-dbgsym (Debian: `dpkg -S FILE` tells the package) or name "
                     "their folders with --debug-path",
                     names->str);
}

#define BARE_UNITS_NAMED 5

void fm_findings_of_images(const struct fm_images *images, struct fm_finish_notes *notes)
{
    find_nameless(images, notes);
    for (guint i = 0; i < images->all->len; i++) {
        const struct fm_image *image = fm_images_at(images, i);
        if (image->statics == NULL || (image->raw->flags & FM_REC_MODULE_INSTRUMENTED) == 0)
            continue;
        g_autoptr(GPtrArray) bare = fm_statics_bare_units(image->statics);
        g_autoptr(GString) names = g_string_new(NULL);
        for (guint k = 0; k < bare->len && k < BARE_UNITS_NAMED; k++)
            g_string_append_printf(names, "%s%s", k > 0 ? ", " : "",
                                   (const char *)g_ptr_array_index(bare, k));
        if (bare->len > BARE_UNITS_NAMED)
            g_string_append_printf(names, " and %u more", bare->len - BARE_UNITS_NAMED);
        if (bare->len > 0)
            fm_notes_add(notes,
                         "%s: %u of its source files are without hooks; unless they were left "
                         "out, they were not compiled with `fathom cc` (rebuild from clean): %s",
                         image->name, bare->len, names->str);
    }
}
