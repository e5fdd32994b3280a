/* SPDX-License-Identifier: Apache-2.0 */
/* asm/PROC: the instructions of a C function with the time that fell on each, between the lines of
 * the source that they are from. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "profile/file/machine/binary.h"
#include "profile/file/machine/instructions.h"
#include "display/ranked.h"
#include "pages/profile/bodies/bodies.h"
#include "pages/profile/bodies/source.h"
#include "pages/profile/bodies/source_text.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"

#define INSTRUCTIONS_MAX 20000u /* maximum for one page */
#define FILES_MAX 16u /* maximum number of files whose text is shown between instructions */

/* The text of a source file, cut into lines. */
struct text {
    uint32_t file;
    char *bytes; /* NULL: it cannot be shown */
    GPtrArray *lines;
};

struct assembly {
    struct fm_page *page;
    const struct fm_machine_code *code;
    uint32_t ps;
    struct fm_table *table;
    uint64_t whole;     /* quanta of all its instructions */
    GArray *texts;      /* struct text */
    uint32_t image;     /* image of its first part */
    GHashTable *starts; /* uint64_t address of a part in that image -> its procedure */
    uint32_t shown;
};

/* --- the source between --- */

static void text_clear(void *data)
{
    struct text *text = data;
    g_free(text->bytes);
    g_ptr_array_unref(text->lines);
}

static const struct text *text_of(struct assembly *view, uint32_t file)
{
    for (guint i = 0; i < view->texts->len; i++) {
        const struct text *known = &g_array_index(view->texts, struct text, i);
        if (known->file == file)
            return known;
    }
    if (view->texts->len >= FILES_MAX)
        return NULL;
    struct text text = {.file = file, .lines = g_ptr_array_new()};
    g_autofree char *note = NULL;
    text.bytes = fm_source_text_read(view->page, view->code->files->pdata[file], &note);
    for (char *at = text.bytes; at != NULL && *at != '\0';) {
        char *end = strchr(at, '\n');
        g_ptr_array_add(text.lines, at);
        if (end != NULL)
            *end = '\0';
        at = end != NULL ? end + 1 : NULL;
    }
    g_array_append_val(view->texts, text);
    return &g_array_index(view->texts, struct text, view->texts->len - 1);
}

/* "lvm.c:1310  if (ttisinteger(rb))" */
static void add_line_row(struct assembly *view, const struct fm_code_row *row)
{
    struct fm_page *page = view->page;
    const char *file = view->code->files->pdata[row->file];
    const struct text *text = text_of(view, row->file);
    struct fm_query link = fm_page_link(page, FM_CMD_SOURCE, 0);
    const char *code =
        text != NULL && row->line <= text->lines->len ? text->lines->pdata[row->line - 1] : "";
    bool own = strcmp(file, page->profile->ps[view->ps].file) == 0;
    g_autofree char *place = fm_name_place(page, file, row->line);
    g_autofree char *stripped = g_strstrip(g_utf8_make_valid(code, -1));
    link.command.name = (char *)(uintptr_t)file;
    link.line = row->line;
    g_autofree char *label = g_strdup_printf("%s  %s", place, stripped);
    const struct fm_path_part part = {label, own ? &link : NULL, 0};
    fm_table_row(view->table, "line", false);
    fm_cell_empty(view->table);
    fm_cell_empty(view->table);
    fm_cell_empty(view->table);
    fm_cell_path(view->table, &part, 1, 0);
    fm_cell_empty(view->table);
}

/* --- instructions --- */

/* Finds the function to which a call or jump out of this function leads. */
static uint32_t leads_to(const struct assembly *view, const struct fm_code_part *part,
                         const struct fm_instruction *one)
{
    if (one->target == 0 || part->image != view->image || one->target - part->start < part->size)
        return 0;
    return GPOINTER_TO_UINT(g_hash_table_lookup(view->starts, &one->target));
}

static void add_amounts(struct assembly *view, uint64_t quanta)
{
    double seconds =
        (double)quanta / (double)MAX(view->page->profile->ticks_per_second, UINT64_C(1));
    if (!view->code->has_samples || quanta == 0) {
        fm_cell_empty(view->table);
        fm_cell_empty(view->table);
        return;
    }
    double share = (double)quanta / (double)view->whole;
    fm_cell_time_in(view->table, seconds, FM_TIME_UNIT_MS);
    fm_cell_bar(view->table, share, share);
    fm_cell_share(view->table, share);
}

/* A function of another file. */
static const char *named_call(const struct assembly *view, const struct fm_code_part *part,
                              const struct fm_instruction *one)
{
    uint64_t returns = one->address + one->size;
    uint32_t first = part->call_first, end = first + part->call_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const struct fm_code_call *call =
            &g_array_index(view->code->calls, struct fm_code_call, middle);
        if (call->address == returns)
            return view->code->names->pdata[call->name];
        if (call->address < returns)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

static void add_instruction(struct assembly *view, const struct fm_code_part *part,
                            const struct fm_instruction *one, uint64_t quanta)
{
    struct fm_page *page = view->page;
    uint32_t to = leads_to(view, part, one);
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, to);
    const char *name = to ? fm_shown_name(page, to) : named_call(view, part, one);
    g_autofree char *address = g_strdup_printf("%" G_GINT64_MODIFIER "x", (guint64)one->address);
    g_autofree char *hook =
        one->kind == FM_INSTRUCTION_HOOK
            ? g_strdup_printf("(%u bytes that fathom counts with; left out of the time)", one->size)
            : NULL;
    const struct fm_path_part text = {hook ? hook : one->text, NULL, 0};
    fm_table_row(view->table,
                 hook                               ? "hook"
                 : one->kind == FM_INSTRUCTION_CALL ? "call"
                                                    : "instruction",
                 false);
    if (hook)
        fm_row_soft(view->table);
    add_amounts(view, quanta);
    fm_cell_string(view->table, address, FM_STYLE_PLAIN);
    fm_cell_path(view->table, &text, 1, 1);
    if (to)
        fm_cell_link(view->table, &link, name, FM_STYLE_PLAIN);
    else if (name)
        fm_cell_string(view->table, name, FM_STYLE_PLAIN);
    else
        fm_cell_empty(view->table);
}

/* Rows and samples are in the order of addresses, as instructions are. */
static void add_part_rows(struct assembly *view, const struct fm_code_part *part, const GArray *all)
{
    const struct fm_machine_code *code = view->code;
    uint32_t row = 0, sample = 0;
    const struct fm_code_row *before = NULL;
    for (guint i = 0; i < all->len; i++) {
        const struct fm_instruction *one = &g_array_index(all, struct fm_instruction, i);
        const struct fm_code_row *now = NULL;
        uint64_t quanta = 0, end = one->address + one->size;
        for (; row < part->row_count; row++) {
            const struct fm_code_row *next =
                &g_array_index(code->rows, struct fm_code_row, part->row_first + row);
            if (next->address > one->address)
                break;
            now = next;
        }
        if (now != NULL && now->line > 0 &&
            (before == NULL || before->line != now->line || before->file != now->file)) {
            add_line_row(view, now);
            before = now;
        }
        for (; sample < part->sample_count; sample++) {
            const struct fm_code_sample *next =
                &g_array_index(code->samples, struct fm_code_sample, part->sample_first + sample);
            if (next->address >= end)
                break;
            quanta += next->quanta;
        }
        add_instruction(view, part, one, quanta);
    }
    view->shown += all->len;
}

/* --- where the bytes are --- */

static uint8_t *read_from(const char *path, const struct fm_code_image *image,
                          const struct fm_code_part *part, GString *why)
{
    g_autoptr(FmBinary) binary = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree uint8_t *bytes = g_malloc(part->size + 1);
    if (fm_binary_open(path, image->build_id, &binary, &error) &&
        fm_binary_read(binary, part->start, part->size, bytes, &error))
        return g_steal_pointer(&bytes);
    g_string_append_printf(why, "%s%s", why->len > 0 ? "; " : "", error->message);
    return NULL;
}

/* Returns stored bytes first; else reads the file at its recorded path, or one of the same name
 * beside the recording. On NULL the page has an explanation. */
static uint8_t *bytes_of(struct assembly *view, const struct fm_code_part *part)
{
    const struct fm_code_image *image =
        &g_array_index(view->code->images, struct fm_code_image, part->image);
    g_autoptr(GString) why = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    uint8_t *bytes = fm_machine_code_bytes(view->code, part, &error);
    g_autofree char *folder = g_path_get_dirname(view->page->recording->path);
    g_autofree char *base = g_path_get_basename(image->path);
    g_autofree char *beside = g_build_filename(folder, base, NULL);
    g_autofree char *same = g_canonicalize_filename(beside, NULL);
    if (error != NULL)
        g_string_append(why, error->message);
    if (bytes == NULL)
        bytes = read_from(image->path, image, part, why);
    if (bytes == NULL && strcmp(same, image->path) != 0)
        bytes = read_from(beside, image, part, why);
    if (bytes != NULL)
        return bytes;
    g_autofree char *text = g_strdup_printf(
        "The code at 0x%" G_GINT64_MODIFIER "x cannot be shown: looked for it in %s. "
        "fathom record --keep-sources stores it with the profile.",
        (guint64)part->start, why->str);
    fm_add_text(view->page->body, text);
    return NULL;
}

static void add_columns(struct fm_table *table)
{
    fm_table_ranked(table, NULL);
    fm_table_group(table, "Self ms", FM_COLUMN_TICKS_AND_TIMES, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "self_seconds", NULL);
    fm_column_priority(table, 1);
    fm_column_help(table, "Samples at this instruction: it was the next to run, or the call before "
                          "it was in a library");
    fm_table_group(table, "%", FM_COLUMN_TICKS_AND_TIMES, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "share_fraction", NULL);
    fm_column_priority(table, 2);
    fm_column_help(table, "Of the function's instructions");
    fm_table_group(table, "Address", FM_COLUMN_SOURCE_CONTEXT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "address", NULL);
    fm_column_priority(table, 2);
    fm_table_group(table, "Instruction", FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "instruction", NULL);
    fm_column_priority(table, 1);
    fm_table_group(table, "Leads to", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "leads_to", NULL);
    fm_column_priority(table, 1);
}

static void add_part(struct assembly *view, const struct fm_code_part *part, uint32_t number,
                     uint32_t count)
{
    struct fm_page *page = view->page;
    const struct fm_code_image *image =
        &g_array_index(view->code->images, struct fm_code_image, part->image);
    g_autofree uint8_t *bytes = bytes_of(view, part);
    bool all = true;
    if (bytes == NULL)
        return;
    g_autoptr(GArray) instructions =
        fm_instructions(bytes, part->size, part->start,
                        INSTRUCTIONS_MAX - MIN(view->shown, INSTRUCTIONS_MAX), &all);
    g_autofree char *base = g_path_get_basename(image->path);
    g_autofree char *heading =
        count > 1 ? g_strdup_printf("Part %u of %u in %s, %" G_GUINT64_FORMAT " bytes", number,
                                    count, base, (guint64)part->size)
                  : g_strdup_printf("Instructions in %s, %" G_GUINT64_FORMAT " bytes", base,
                                    (guint64)part->size);
    fm_add_heading(page->body, heading);
    if (instructions == NULL)
        return;
    view->table = fm_add_table(page->body, FM_BOX_NEVER, "instructions");
    add_columns(view->table);
    add_part_rows(view, part, instructions);
    if (!all)
        fm_add_text(page->body, "The instructions behind these are not shown: there are too many.");
}

/* --- the page --- */

/* Indexes the starts of the functions in the image, for the targets of calls. */
static void find_starts(struct assembly *view)
{
    const struct fm_machine_code *code = view->code;
    for (uint32_t ps = 1; ps <= code->ps_count; ps++) {
        uint32_t count;
        const struct fm_code_part *parts = fm_machine_code_parts(code, ps, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (parts[i].image == view->image)
                g_hash_table_insert(view->starts, (gpointer)(uintptr_t)&parts[i].start,
                                    GUINT_TO_POINTER(ps));
        }
    }
}

static void add_parts(struct assembly *view, const struct fm_code_part *parts, uint32_t count)
{
    const struct fm_machine_code *code = view->code;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t s = 0; s < parts[i].sample_count; s++)
            view->whole +=
                g_array_index(code->samples, struct fm_code_sample, parts[i].sample_first + s)
                    .quanta;
    }
    view->image = parts[0].image;
    view->texts = g_array_new(FALSE, FALSE, sizeof(struct text));
    g_array_set_clear_func(view->texts, text_clear);
    view->starts = g_hash_table_new(fm_int64_hash, g_int64_equal);
    find_starts(view);
    for (uint32_t i = 0; i < count; i++)
        add_part(view, &parts[i], i + 1, count);
    g_hash_table_unref(view->starts);
    g_array_unref(view->texts);
}

static void add_links(struct fm_page *page, uint32_t ps)
{
    const struct fm_ps *proc = &page->profile->ps[ps];
    if (page->query.compact) {
        struct fm_list *layout = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Code:");
        struct fm_query alone = fm_page_link(page, FM_CMD_PROC, ps);
        alone.line = proc->line;
        fm_list_set_id(layout, "layout");
        fm_add_link(layout, &alone, "Source");
        fm_add_text(layout, "Source and instructions");
        fm_function_crumbs(page, ps, "instructions");
    }
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "The function:");
    struct fm_query function = fm_page_link(page, FM_CMD_PROC, ps);
    struct fm_query source = fm_page_link(page, FM_CMD_SOURCE, 0);
    fm_add_link(list, &function, "its callers and callees");
    source.command.name = (char *)(uintptr_t)proc->file;
    source.line = proc->line;
    if (proc->file[0])
        fm_add_link(list, &source, "its source");
}

/* Why there are no instructions, as a sentence. */
static void add_nothing(struct fm_page *page, uint32_t ps)
{
    const struct fm_open_profile *recording = page->recording;
    if (recording->machine_code_message != NULL)
        fm_add_text(page->body, recording->machine_code_message);
    else if (recording->machine_code == NULL)
        fm_add_text(page->body, "Addresses of its instructions are not recorded: there is no file "
                                "NAME.code beside this profile. fathom record and fathom finish "
                                "write it; merged and imported profiles have none.");
    else if (page->analysis->ps_pd_first[ps] != page->analysis->ps_pd_first[ps + 1])
        fm_add_text(page->body, "It has no code of its own: the compiler put its body into the "
                                "functions that call it, or it is of a library without hooks.");
    else
        fm_add_text(page->body, "It did not run: only the code of functions that ran is kept.");
}

/* A wide window shows both side by side; a narrow one shows the source first. */
static void add_beside_source(struct assembly *view, const struct fm_code_part *parts,
                              uint32_t count)
{
    struct fm_page *page = view->page;
    struct fm_list *body = page->body, *columns = fm_add_list(body, FM_LIST_COLUMNS, NULL);
    page->body = fm_add_list(columns, FM_LIST_COLUMN, NULL);
    fm_source_add(page, view->ps, 0);
    page->body = fm_add_list(columns, FM_LIST_COLUMN, NULL);
    add_parts(view, parts, count);
    page->body = body;
}

bool fm_page_asm(struct fm_page *page, GError **error)
{
    uint32_t ps = page->query.command.number, count = 0;
    if (!fm_page_check_id(page, "proc_static", ps, page->profile->ps_count, error))
        return false;
    const struct fm_ps *proc = &page->profile->ps[ps];
    struct assembly view = {.page = page, .code = page->recording->machine_code, .ps = ps};
    if (page->profile->flavour != FM_FLAVOUR_C) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: addresses of a Mercury program's instructions are not recorded",
                    page->recording->name);
        return false;
    }
    page->module = proc->decl_module;
    fm_page_begin(page, "asm", g_strdup_printf("Instructions of %s", fm_shown_name(page, ps)));
    fm_display_fact_int(page->display, "ps", ps);
    fm_display_fact_string(page->display, "qualified_name", proc->qualified_name);
    add_links(page, ps);
    const struct fm_code_part *parts =
        view.code != NULL ? fm_machine_code_parts(view.code, ps, &count) : NULL;
    fm_display_fact_int(page->display, "part_count", count);
    if (count == 0)
        add_nothing(page, ps);
    else if (!view.code->has_samples)
        fm_add_text(page->body, "Time by instruction is not recorded.");
    if (count > 0 && page->query.compact)
        add_beside_source(&view, parts, count);
    else if (count > 0)
        add_parts(&view, parts, count);
    fm_display_fact_int(page->display, "instruction_count", view.shown);
    fm_controls_proc_reports(page, ps);
    fm_controls_general(page);
    return true;
}
