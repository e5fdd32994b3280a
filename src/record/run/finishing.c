/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/finishing.h"

#include "record/run/call_log.h"

#include "profile/file/attached/attached.h"
#include "profile/file/machine/binary.h"
#include "profile/file/machine/machine_code.h"
#include "profile/file/attached/source_texts.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/files/content_hash.h"
#include "base/files/writer.h"
#include "base/text/shell.h"
#include "base/console/say.h"
#include "exchange/hint/hint.h"
#include "record/run/summary.h"
#include "profile/file/write.h"

char *fm_run_data_path(const char *name)
{
    size_t length = strlen(name);
    if (g_str_has_suffix(name, ".data"))
        length -= strlen(".data");
    else if (g_str_has_suffix(name, ".rec"))
        length -= strlen(".rec");
    return g_strdup_printf("%.*s.data", (int)length, name);
}

#define COMMAND_CHARACTERS 60

static void tell_notes(const struct fm_finishing *how, const struct fm_finish_notes *notes,
                       const char *rec_path, const char *log_path)
{
    g_autofree char *recording = fm_text_escaped(rec_path);
    g_autofree char *log = fm_text_escaped(log_path);
    if (notes->spans != NULL && !how->quiet)
        fprintf(stderr, "%u timed calls: %s\n", notes->spans->len, log);
    for (guint i = 0; i < notes->lines->len; i++)
        fprintf(stderr, "fathom %s: note: %s%s%s\n", how->command, how->several ? recording : "",
                how->several ? ": " : "", (const char *)g_ptr_array_index(notes->lines, i));
}

/* For a list: without control characters, cut to a part of a line. */
static char *one_line(const char *command)
{
    glong count = 0;
    g_autofree gunichar *characters = g_utf8_to_ucs4_fast(command, -1, &count);
    GString *text = g_string_new(NULL);
    for (glong i = 0; i < MIN(count, COMMAND_CHARACTERS); i++)
        g_string_append_unichar(text, g_unichar_iscntrl(characters[i]) ? ' ' : characters[i]);
    if (count > COMMAND_CHARACTERS)
        g_string_append(text, "...");
    return g_string_free(text, FALSE);
}

static void keep_sources(const struct fm_finishing *how, struct fm_profile *profile)
{
    const char *folder = profile->run_info.process.folder;
    uint32_t count, left;
    fm_source_texts_attach(profile, folder ? folder : ".", how->root, &count, &left);
    if (left > 0)
        fprintf(stderr, "fathom %s: note: %u source files are stored, %u could not be read\n",
                how->command, count, left);
}

/* The code of the functions that ran, from the files that are there. */
static void keep_code(struct fm_profile *profile, const char *data_path)
{
    g_autoptr(FmMachineCode) code = NULL;
    if (profile->attached[FM_ATTACHED_CODE].packed == NULL ||
        !fm_machine_code_find(NULL, data_path, profile, &code, NULL))
        return;
    for (guint i = 0; i < code->images->len; i++) {
        const struct fm_code_image *image = &g_array_index(code->images, struct fm_code_image, i);
        g_autoptr(FmBinary) binary = NULL;
        if (!fm_binary_open(image->path, image->build_id, &binary, NULL))
            continue; /* pages say why it is not there */
        for (guint p = 0; p < code->parts->len; p++) {
            const struct fm_code_part *part = &g_array_index(code->parts, struct fm_code_part, p);
            g_autofree uint8_t *bytes = part->image == i ? g_malloc(part->size + 1) : NULL;
            if (bytes != NULL && fm_binary_read(binary, part->start, part->size, bytes, NULL))
                fm_machine_code_keep(code, p, bytes);
        }
    }
    fm_machine_code_attach(code, profile);
}

bool fm_run_finish_profile(const struct fm_finishing *how, const char *rec_path,
                           struct fm_profile **ret, struct fm_finish_notes *ret_notes,
                           GError **error)
{
    struct fm_finish_opts opts = {
        .root = how->root,
        .debug_path = how->debug_path,
        .when = how->when,
        .since = how->since,
        .only_existing = g_strcmp0(g_getenv("FATHOM_INLINED"), "off") == 0,
        .known = how->known,
        .ended_ns = how->ended_ns,
        .again = how->again,
        .lost = how->lost,
    };
    return fm_finish(rec_path, &opts, ret, ret_notes, error);
}

bool fm_run_write_profile(const struct fm_finishing *how, struct fm_profile *profile,
                          const char *data_path, GError **error)
{
    if (how->keep_sources) {
        keep_code(profile, data_path);
        keep_sources(how, profile);
    }
    if (!fm_profile_write(profile, data_path, false, error))
        return false;
    fm_attached_remove_beside(data_path);
    return true;
}

bool fm_run_part_hash(const struct fm_profile *profile, const char *name,
                      uint8_t ret[FM_PART_HASH_BYTES], GError **error)
{
    struct fm_writer *writer = fm_writer_new_memory();
    if (!fm_profile_encode(profile, name, 9, false, writer, error)) {
        fm_writer_discard(writer);
        return false;
    }
    g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
    gsize size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    fm_content_hash_of_bytes(data, size, ret);
    return true;
}

void fm_run_finished(const struct fm_finishing *how, const char *rec_path, const char *data_path)
{
    if (how->profiles != NULL && !g_hash_table_contains(how->profiles, rec_path))
        g_hash_table_insert(how->profiles, g_strdup(rec_path), g_strdup(data_path));
}

static bool finish(const struct fm_finishing *how, const char *rec_path, const char *data_path,
                   struct fm_finished *ret, GError **error)
{
    struct fm_finish_notes notes;
    g_autoptr(FmProfile) profile = NULL;
    if (!fm_run_finish_profile(how, rec_path, &profile, &notes, error))
        return false;
    if (!fm_run_write_profile(how, profile, data_path, error)) {
        fm_finish_notes_done(&notes);
        return false;
    }
    g_autofree char *log_path = fm_call_log_path(data_path);
    if (notes.spans != NULL && !fm_call_log_write(&notes, profile, log_path, error)) {
        fm_finish_notes_done(&notes);
        return false;
    }
    tell_notes(how, &notes, rec_path, log_path);
    if (how->brief && !how->quiet) {
        const struct fm_process_fact *process = &profile->run_info.process;
        g_autofree char *command = process->command == NULL ? NULL : one_line(process->command);
        g_autofree char *shown = fm_text_escaped(data_path);
        fprintf(stderr, "%s: ", shown);
        if (command != NULL)
            fprintf(stderr, "%s (started by %u): ", command, process->parent_pid);
        fm_run_print_totals(profile, &notes);
    } else if (!how->quiet) {
        fm_run_print_summary(profile, &notes, data_path);
    }
    fm_run_finished(how, rec_path, data_path);
    if (ret != NULL)
        *ret = (struct fm_finished){.calls = notes.calls + (notes.unwound ? notes.samples + 1 : 0),
                                    .samples = notes.samples,
                                    .unfinished = notes.live || notes.incomplete};
    if (!how->keep && how->since == NULL && !notes.live && !notes.incomplete)
        g_unlink(rec_path);
    if (notes.incomplete)
        fprintf(stderr,
                "fathom %s: note: %s is kept: when the files are available, `fathom finish` makes "
                "the profile again (--root names a copy of the file system that it ran in, "
                "--debug-path folders of programs and of debug files)\n",
                how->command, rec_path);
    fm_finish_notes_done(&notes);
    return true;
}

bool fm_run_finish(const struct fm_finishing *how, const char *rec_path, const char *data_path,
                   struct fm_finished *ret)
{
    g_autofree char *whole = fm_run_data_path(data_path == NULL ? rec_path : data_path);
    GError *error = NULL;
    if (finish(how, rec_path, whole, ret, &error))
        return true;
    fm_hint_fail_file(how->command, rec_path, FM_FILE_RECORDING, error);
    return false;
}
