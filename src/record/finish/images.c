/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/images.h"

#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "record/finish/notes.h"
#include "record/known/known.h"
#include "record/statics/found.h"
#include "base/text/demangle.h"

struct fm_image *fm_images_at(const struct fm_images *images, uint32_t index)
{
    g_assert(index < images->all->len);
    return &g_array_index(images->all, struct fm_image, index);
}

static bool same_file(const struct fm_raw_module *left, const struct fm_raw_module *right)
{
    return strcmp(left->path, right->path) == 0 && left->build_id_size == right->build_id_size &&
           memcmp(left->build_id, right->build_id, left->build_id_size) == 0;
}

static uint32_t image_for(const struct fm_images *images, const struct fm_raw_module *module)
{
    for (guint i = 0; i < images->all->len; i++) {
        if (same_file(fm_images_at(images, i)->raw, module))
            return i;
    }
    const struct fm_loaded_file file = {module->path, module->build_id, module->build_id_size};
    struct fm_image image = {
        .raw = module,
        .name = g_path_get_basename(module->path),
        .path = fm_statics_find(&file, images->root, images->opts->debug_path),
    };
    g_array_append_val(images->all, image);
    return images->all->len - 1;
}

/* Marks the images with recorded code: only these are read completely. */
static void mark_used(const struct fm_images *images, bool *used, uint64_t address, uint32_t epoch)
{
    uint64_t file;
    uint32_t image = fm_images_find(images, address, epoch, &file);
    if (image != FM_NONE)
        used[image] = true;
}

static bool extract(const struct fm_images *images, struct fm_image *image,
                    const struct fm_statics_opts *opts, GError **error)
{
    image->unreadable = !fm_known_extract(images->opts->known, image->path, opts, &image->statics,
                                          &image->statics_kept, error);
    return !image->unreadable;
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* The functions of the recording's contexts in a file that no hook was met in, ascending. */
static GArray *functions_met(const struct fm_images *images, uint32_t index)
{
    const struct fm_raw_recording *recording = images->recording;
    GArray *functions = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    guint kept = 0;
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        uint64_t file;
        if (recording->pds[i].fn > FM_REC_FN_SPECIAL_MAX &&
            fm_images_find(images, recording->pds[i].fn, recording->pds[i].epoch, &file) == index)
            g_array_append_val(functions, file);
    }
    uint64_t *all = (uint64_t *)(void *)functions->data;
    g_array_sort(functions, compare_addresses);
    for (guint i = 0; i < functions->len; i++)
        if (i == 0 || all[i] != all[kept - 1])
            all[kept++] = all[i];
    g_array_set_size(functions, kept);
    return functions;
}

/* A file that cannot be read has functions named by addresses: that is no fault where a file has no
 * names anyway. */
static void read_unwound(const struct fm_images *images, uint32_t index)
{
    struct fm_image *image = fm_images_at(images, index);
    g_autoptr(GArray) functions = functions_met(images, index);
    struct fm_statics_opts opts = {
        .build_id = image->raw->build_id,
        .build_id_size = image->raw->build_id_size,
        .debug_path = images->debug_path,
        .only = (const uint64_t *)(const void *)functions->data,
        .only_count = functions->len,
    };
    image->unwound = true;
    image->unreadable = (image->raw->flags & FM_REC_MODULE_VDSO) != 0;
    if (!image->unreadable && !fm_statics_extract(image->path, &opts, &image->statics, NULL)) {
        opts.ignore_debug = true;
        image->unreadable = !fm_statics_extract(image->path, &opts, &image->statics, NULL);
    }
    image->nameless = image->unreadable ? functions->len : 0;
    for (uint32_t i = 0; !image->unreadable && i < image->statics->proc_count; i++)
        image->nameless += image->statics->procs[i].nameless;
}

static void read_image(const struct fm_images *images, struct fm_image *image,
                       struct fm_finish_notes *notes)
{
    g_autoptr(GError) error = NULL;
    struct fm_statics_opts opts = {
        .build_id = image->raw->build_id,
        .build_id_size = image->raw->build_id_size,
        .debug_path = images->debug_path,
        .coverage = (images->recording->header.grade_flags & FM_REC_COVERAGE) != 0,
        .physical = (images->recording->header.grade_flags & FM_REC_LAZY_EXITS) != 0,
    };
    bool ok = extract(images, image, &opts, &error);
    if (!ok && g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE)) {
        fm_notes_add(notes, "%s; only its symbols are used", error->message);
        notes->incomplete = true;
        g_clear_error(&error);
        opts.ignore_debug = true;
        if (!extract(images, image, &opts, &error))
            fm_notes_add(notes, "%s; its procedures are named by their addresses", error->message);
    } else if (!ok) {
        fm_notes_add(notes, "%s; its procedures are named by their addresses", error->message);
        notes->incomplete = true;
    } else if (image->statics->proc_count > 0 && !image->statics->has_debug) {
        fm_notes_add(notes,
                     "%s: no debug information (%s): no lines, no parameters, and bodies "
                     "that the compiler inlined have no call site",
                     image->path,
                     image->statics->debug_note == NULL ? "none" : image->statics->debug_note);
        notes->incomplete = true;
    }
}

void fm_images_open(struct fm_images *images, const struct fm_raw_recording *recording,
                    const struct fm_finish_opts *opts, struct fm_finish_notes *notes)
{
    g_return_if_fail(recording != NULL && opts != NULL && notes != NULL);
    *images = (struct fm_images){
        .recording = recording,
        .opts = opts,
        .all = g_array_new(FALSE, TRUE, sizeof(struct fm_image)),
    };
    images->root = g_strdup(opts->root);
    if (opts->root == NULL && fm_raw_recording_is_live(recording))
        images->root = fm_process_root(fm_raw_header_writer(&recording->header));
    images->debug_path = fm_statics_debug_path(images->root, opts->debug_path);
    images->of_module = g_new(uint32_t, recording->module_count + 1);
    for (uint32_t i = 0; i < recording->module_count; i++)
        images->of_module[i] = image_for(images, &recording->modules[i]);
    g_autofree bool *used = g_new0(bool, images->all->len + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        if (recording->pds[i].fn > FM_REC_FN_SPECIAL_MAX)
            mark_used(images, used, recording->pds[i].fn, recording->pds[i].epoch);
    }
    for (guint i = 0; i < images->all->len; i++) {
        const uint32_t flags = fm_images_at(images, i)->raw->flags;
        if (used[i] && (flags & FM_REC_MODULE_UNWOUND) != 0 &&
            (flags & FM_REC_MODULE_INSTRUMENTED) == 0)
            read_unwound(images, i);
        else if (used[i])
            read_image(images, fm_images_at(images, i), notes);
    }
}

void fm_images_close(struct fm_images *images)
{
    for (guint i = 0; i < images->all->len; i++) {
        struct fm_image *image = fm_images_at(images, i);
        if (!image->statics_kept)
            fm_statics_free(image->statics);
        g_clear_pointer(&image->proc_of_name, g_hash_table_unref);
        g_free(image->name);
        g_free(image->path);
    }
    g_array_unref(images->all);
    g_free(images->of_module);
    g_free(images->root);
    g_free(images->debug_path);
}

uint32_t fm_images_find(const struct fm_images *images, uint64_t address, uint32_t epoch,
                        uint64_t *ret_file)
{
    const struct fm_raw_module *module =
        fm_raw_recording_module_at(images->recording, address, epoch);
    if (module == NULL)
        return FM_NONE;
    *ret_file = address - module->bias;
    return images->of_module[module - images->recording->modules];
}

/* Foreign modules are opened for their symbols when a name is asked for. */
static const char *symbol_in(const struct fm_images *images, struct fm_image *image,
                             uint64_t address, uint64_t *ret_offset)
{
    if (image->statics == NULL && !image->unreadable &&
        (image->raw->flags & FM_REC_MODULE_VDSO) == 0) {
        struct fm_statics_opts opts = {.build_id = image->raw->build_id,
                                       .build_id_size = image->raw->build_id_size};
        if (!extract(images, image, &opts, NULL))
            image->statics = NULL;
    }
    return image->statics == NULL ? NULL
                                  : fm_statics_symbol_at(image->statics, address, ret_offset);
}

const char *fm_images_symbol(const struct fm_images *images, uint32_t index, uint64_t file)
{
    uint64_t offset;
    return symbol_in(images, fm_images_at(images, index), file, &offset);
}

char *fm_images_describe(const struct fm_images *images, uint64_t address, uint32_t epoch)
{
    uint64_t file, offset;
    uint32_t index = fm_images_find(images, address, epoch, &file);
    if (index == FM_NONE)
        return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)address);
    struct fm_image *image = fm_images_at(images, index);
    const char *symbol = symbol_in(images, image, file, &offset);
    if (symbol == NULL)
        return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", image->name, (guint64)file);
    g_autofree char *plain = fm_demangle(symbol);
    return g_strdup_printf("%s: %s", image->name, plain);
}

/* One text for all the names of a C++ function: constructors and destructors have several (C1, C2).
 */
static char *common_name(const char *linkage)
{
    char *name = g_strdup(linkage);
    for (char *at = name; strncmp(name, "_Z", 2) == 0 && at[0] != '\0' && at[1] != '\0'; at++) {
        if ((at[0] == 'C' || at[0] == 'D') && g_ascii_isdigit(at[1]) && at[2] == 'E')
            at[1] = '*';
    }
    return name;
}

/* The function with hooks that has this name in an image, FM_NONE when there is none. */
static uint32_t proc_named(struct fm_image *image, const char *linkage)
{
    const struct fm_statics *statics = image->statics;
    if (image->proc_of_name == NULL) {
        image->proc_of_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (uint32_t i = 0; i < statics->proc_count; i++) {
            const struct fm_proc *proc = &statics->procs[i];
            if (proc->linkage[0] != '\0' && (proc->instrumented || proc->left_out))
                g_hash_table_insert(image->proc_of_name, common_name(proc->linkage),
                                    GUINT_TO_POINTER(i + 1));
        }
    }
    g_autofree char *name = common_name(linkage);
    gpointer found = g_hash_table_lookup(image->proc_of_name, name);
    return found == NULL ? FM_NONE : GPOINTER_TO_UINT(found) - 1;
}

/* The image that contains the hook which created a pd, and its address there; FM_NONE when it is
 * not known. */
static uint32_t image_of_hook(const struct fm_images *images, uint32_t pd, uint64_t *ret_file)
{
    uint32_t maker = images->recording->pds[pd].maker;
    *ret_file = 0;
    if (maker == FM_RAW_NONE)
        return FM_NONE;
    const struct fm_raw_csd *csd = &images->recording->csds[maker];
    uint32_t image = fm_images_find(images, csd->hook_pc, csd->epoch, ret_file);
    return image == FM_NONE || fm_images_at(images, image)->statics == NULL ? FM_NONE : image;
}

/* The function that contains the hook which created a pd, if it is in that image and not in an
 * inlined body; else FM_NONE. */
static uint32_t proc_of_hook(const struct fm_images *images, uint32_t pd, uint32_t image)
{
    uint32_t maker = images->recording->pds[pd].maker;
    uint64_t file;
    if (image_of_hook(images, pd, &file) != image ||
        (images->recording->csds[maker].flags & FM_REC_CSD_INLINED) != 0)
        return FM_NONE;
    const struct fm_statics *statics = fm_images_at(images, image)->statics;
    if (statics == NULL || statics->proc_count == 0)
        return FM_NONE;
    uint32_t proc = fm_statics_body_at(statics, file - 1);
    bool has_hooks =
        proc != FM_NONE && (statics->procs[proc].instrumented || statics->procs[proc].left_out);
    return has_hooks ? proc : FM_NONE;
}

bool fm_images_proc_of_pd(const struct fm_images *images, uint32_t pd, uint32_t *ret_image,
                          uint32_t *ret_proc)
{
    const struct fm_raw_pd *raw = &images->recording->pds[pd];
    uint64_t file, offset, hook;
    uint32_t image = raw->fn == 0 ? FM_NONE : fm_images_find(images, raw->fn, raw->epoch, &file);
    if (image == FM_NONE)
        return false;
    const struct fm_statics *statics = fm_images_at(images, image)->statics;
    uint32_t proc = FM_NONE;
    if (statics != NULL && statics->proc_count > 0) {
        proc = fm_statics_proc_at(statics, file);
        if (proc == FM_NONE)
            proc = fm_statics_body_at(statics, file);
    }
    *ret_image = image;
    *ret_proc = proc;
    if (proc != FM_NONE && (statics->procs[proc].instrumented || statics->procs[proc].left_out))
        return true;
    /* For a function selected at run time (clones for other CPUs), the recorded address is that of
     * a stub, which is not a function. */
    uint32_t around = proc_of_hook(images, pd, image);
    if (around != FM_NONE) {
        *ret_proc = around;
        return true;
    }
    /* A C++ function in a header may have its address in a library that contains it, too, though
     * the body that ran was inlined here: its hook, and so its description, is here. */
    uint32_t here = image_of_hook(images, pd, &hook);
    const char *symbol = here == FM_NONE || here == image
                             ? NULL
                             : symbol_in(images, fm_images_at(images, image), file, &offset);
    uint32_t named =
        symbol == NULL || offset != 0 ? FM_NONE : proc_named(fm_images_at(images, here), symbol);
    if (named != FM_NONE) {
        *ret_image = here;
        *ret_proc = named;
    }
    return *ret_proc != FM_NONE;
}
