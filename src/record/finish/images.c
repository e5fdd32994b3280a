/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/finish_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/known/known.h"

static bool same_file(const struct fm_raw_module *left, const struct fm_raw_module *right)
{
    return strcmp(left->path, right->path) == 0 && left->build_id_size == right->build_id_size &&
           memcmp(left->build_id, right->build_id, left->build_id_size) == 0;
}

static uint32_t image_for(struct finisher *f, const struct fm_raw_module *module)
{
    for (guint i = 0; i < f->images->len; i++) {
        if (same_file(fm_image(f, i)->raw, module))
            return i;
    }
    struct image image = {.raw = module, .name = g_path_get_basename(module->path)};
    g_array_append_val(f->images, image);
    return f->images->len - 1;
}

/* Which images had code of theirs recorded: only those are read whole. */
static void mark_used(struct finisher *f, bool *used, uint64_t address, uint32_t epoch)
{
    uint64_t file;
    uint32_t image = fm_images_find(f, address, epoch, &file);
    if (image != FM_NONE)
        used[image] = true;
}

static bool extract(struct finisher *f, struct image *image, const struct fm_statics_opts *opts,
                    GError **error)
{
    return fm_known_extract(f->opts->known, image->raw->path, opts, &image->statics,
                            &image->statics_kept, error);
}

static void read_image(struct finisher *f, struct image *image)
{
    g_autoptr(GError) error = NULL;
    struct fm_statics_opts opts = {
        .build_id = image->raw->build_id,
        .build_id_size = image->raw->build_id_size,
        .debug_path = f->opts->debug_path,
        .coverage = (f->recording->header.grade_flags & FM_REC_COVERAGE) != 0,
        .physical = (f->recording->header.grade_flags & FM_REC_LAZY_EXITS) != 0,
    };
    bool ok = extract(f, image, &opts, &error);
    if (!ok && g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE)) {
        fm_finish_note(f, "%s; going by the symbols alone", error->message);
        f->notes->incomplete = true;
        g_clear_error(&error);
        opts.ignore_debug = true;
        if (!extract(f, image, &opts, &error))
            fm_finish_note(f, "%s; its procedures are named by their addresses", error->message);
    } else if (!ok) {
        fm_finish_note(f, "%s; its procedures are named by their addresses", error->message);
        f->notes->incomplete = true;
    } else if (image->statics->proc_count > 0 && !image->statics->has_debug) {
        fm_finish_note(f,
                       "%s: no debug information (%s): no lines, no parameters, and bodies "
                       "that the compiler inlined have no call site",
                       image->raw->path,
                       image->statics->debug_note == NULL ? "none" : image->statics->debug_note);
        f->notes->incomplete = true;
    }
}

void fm_images_open(struct finisher *f)
{
    const struct fm_raw_recording *recording = f->recording;
    f->images = g_array_new(FALSE, TRUE, sizeof(struct image));
    f->image_of_module = g_new(uint32_t, recording->module_count + 1);
    for (uint32_t i = 0; i < recording->module_count; i++)
        f->image_of_module[i] = image_for(f, &recording->modules[i]);
    g_autofree bool *used = g_new0(bool, f->images->len + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        if (recording->pds[i].fn != 0)
            mark_used(f, used, recording->pds[i].fn, recording->pds[i].epoch);
    }
    for (guint i = 0; i < f->images->len; i++) {
        if (used[i])
            read_image(f, fm_image(f, i));
    }
}

void fm_images_close(struct finisher *f)
{
    if (f->images == NULL)
        return;
    for (guint i = 0; i < f->images->len; i++) {
        struct image *image = fm_image(f, i);
        if (!image->statics_kept)
            fm_statics_free(image->statics);
        g_free(image->ps_of_proc);
        g_free(image->css_of_site);
        g_free(image->node_of_point);
        g_clear_pointer(&image->proc_of_name, g_hash_table_unref);
        g_free(image->name);
    }
    g_array_unref(f->images);
}

uint32_t fm_images_find(struct finisher *f, uint64_t address, uint32_t epoch, uint64_t *ret_file)
{
    const struct fm_raw_module *module = fm_raw_recording_module_at(f->recording, address, epoch);
    if (module == NULL)
        return FM_NONE;
    *ret_file = address - module->bias;
    return f->image_of_module[module - f->recording->modules];
}

/* Foreign modules are opened for their symbols when a name is asked for. */
static const char *symbol_in(struct finisher *f, struct image *image, uint64_t address,
                             uint64_t *ret_offset)
{
    if (image->statics == NULL && (image->raw->flags & FM_REC_MODULE_VDSO) == 0) {
        struct fm_statics_opts opts = {.build_id = image->raw->build_id,
                                       .build_id_size = image->raw->build_id_size};
        if (!extract(f, image, &opts, NULL))
            image->statics = NULL;
    }
    return image->statics == NULL ? NULL
                                  : fm_statics_symbol_at(image->statics, address, ret_offset);
}

char *fm_images_describe(struct finisher *f, uint64_t address, uint32_t epoch)
{
    uint64_t file, offset;
    uint32_t index = fm_images_find(f, address, epoch, &file);
    if (index == FM_NONE)
        return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)address);
    struct image *image = fm_image(f, index);
    const char *symbol = symbol_in(f, image, file, &offset);
    if (symbol == NULL)
        return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", image->name, (guint64)file);
    g_autofree char *plain = fm_demangle(symbol);
    return g_strdup_printf("%s: %s", image->name, plain);
}

uint32_t fm_images_add_css(struct finisher *f, const struct node_css *css)
{
    uint32_t index = f->css->len;
    g_array_append_val(f->css, *css);
    struct node_css *node = fm_node_css(f, index);
    struct node_ps *ps = fm_node_ps(f, css->ps);
    node->slot = ps->css->len;
    node->actual = FM_NONE;
    node->only_virtual = true;
    g_array_append_val(ps->css, index);
    return index;
}

static uint32_t add_ps(struct finisher *f, const struct node_ps *ps)
{
    g_array_append_val(f->ps, *ps);
    uint32_t index = f->ps->len - 1;
    fm_node_ps(f, index)->css = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return index;
}

static const char *full_name(struct finisher *f, const struct fm_proc *proc)
{
    if (!proc->cplusplus || strncmp(proc->linkage, "_Z", 2) != 0)
        return proc->name;
    g_autofree char *plain = fm_demangle(proc->linkage);
    return strcmp(plain, proc->linkage) == 0 ? proc->name : fm_finish_string(f, "%s", plain);
}

/* A C++ function without a linker's name in its description has one as a symbol; a clone's, with
 * what was done to it behind a dot. */
static const char *linker_name(struct finisher *f, const struct image *image,
                               const struct fm_proc *proc)
{
    uint64_t offset;
    if (!proc->cplusplus || proc->entry == 0)
        return proc->linkage;
    const char *symbol = fm_statics_symbol_at(image->statics, proc->entry, &offset);
    if (symbol == NULL || offset != 0)
        return proc->linkage;
    return fm_finish_string(f, "%.*s", (int)strcspn(symbol, "."), symbol);
}

static uint32_t add_proc(struct finisher *f, uint32_t image_index, uint32_t proc_index)
{
    struct image *image = fm_image(f, image_index);
    if (image->ps_of_proc[proc_index] != FM_NONE)
        return image->ps_of_proc[proc_index];
    struct fm_proc proc = image->statics->procs[proc_index];
    proc.linkage = linker_name(f, image, &proc);
    struct node_ps ps = {
        .image = image_index,
        .proc = proc_index,
        .module = proc.unit,
        .name = full_name(f, &proc),
        .linkage = proc.linkage,
        .file = proc.file,
        .line = proc.line,
        .arity = proc.arity,
        .variadic = proc.variadic,
        .external = proc.external,
        .virtual_method = proc.virtual_method,
        .inlined = proc.inlined,
    };
    uint32_t index = add_ps(f, &ps);
    image->ps_of_proc[proc_index] = index;
    if (proc.external)
        g_hash_table_insert(f->exported, (gpointer)(uintptr_t)proc.linkage,
                            GUINT_TO_POINTER(index + 1));
    return index;
}

static void add_image_procs(struct finisher *f, uint32_t index)
{
    struct image *image = fm_image(f, index);
    const struct fm_statics *statics = image->statics;
    if (statics == NULL || statics->proc_count == 0)
        return;
    image->ps_of_proc = g_new(uint32_t, statics->proc_count);
    memset(image->ps_of_proc, 0xff, statics->proc_count * sizeof *image->ps_of_proc);
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        if (statics->procs[i].instrumented)
            add_proc(f, index, i);
    }
}

static uint32_t synthetic_ps(struct finisher *f, uint64_t address, uint32_t epoch)
{
    uint64_t file = address;
    uint32_t image = fm_images_find(f, address, epoch, &file);
    const char *key = fm_finish_string(f, "ps %u %" G_GINT64_MODIFIER "x", image, (guint64)file);
    gpointer known = g_hash_table_lookup(f->synthetic, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    const char *module = image == FM_NONE ? "unknown code" : fm_image(f, image)->name;
    g_autofree char *name = fm_images_describe(f, address, epoch);
    struct node_ps ps = {
        .image = FM_NONE,
        .proc = FM_NONE,
        .module = module,
        .name = fm_finish_string(f, "%s", name),
        .linkage = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
    };
    uint32_t index = add_ps(f, &ps);
    g_hash_table_insert(f->synthetic, (gpointer)(uintptr_t)key, GUINT_TO_POINTER(index + 1));
    return index;
}

/* One text for all the names of a C++ function: constructors and destructors have several (C1, C2).
 */
static const char *common_name(struct finisher *f, const char *linkage)
{
    g_autofree char *name = g_strdup(linkage);
    for (char *at = name; strncmp(name, "_Z", 2) == 0 && at[0] != '\0' && at[1] != '\0'; at++) {
        if ((at[0] == 'C' || at[0] == 'D') && g_ascii_isdigit(at[1]) && at[2] == 'E')
            at[1] = '*';
    }
    return fm_finish_string(f, "%s", name);
}

/* The function with hooks that has this name in an image, FM_NONE when there is none. */
static uint32_t proc_named(struct finisher *f, struct image *image, const char *linkage)
{
    const struct fm_statics *statics = image->statics;
    if (image->proc_of_name == NULL) {
        image->proc_of_name = g_hash_table_new(g_str_hash, g_str_equal);
        for (uint32_t i = 0; i < statics->proc_count; i++) {
            const struct fm_proc *proc = &statics->procs[i];
            if (proc->linkage[0] != '\0' && (proc->instrumented || proc->left_out))
                g_hash_table_insert(image->proc_of_name,
                                    (gpointer)(uintptr_t)common_name(f, proc->linkage),
                                    GUINT_TO_POINTER(i + 1));
        }
    }
    gpointer found = g_hash_table_lookup(image->proc_of_name, common_name(f, linkage));
    return found == NULL ? FM_NONE : GPOINTER_TO_UINT(found) - 1;
}

/* The image that the hook which made a pd stands in, FM_NONE when it is not known. */
static uint32_t image_of_hook(struct finisher *f, uint32_t pd)
{
    uint32_t maker = f->recording->pds[pd].maker;
    uint64_t file;
    if (maker == FM_RAW_NONE)
        return FM_NONE;
    const struct fm_raw_csd *csd = &f->recording->csds[maker];
    uint32_t image = fm_images_find(f, csd->hook_pc, csd->epoch, &file);
    return image == FM_NONE || fm_image(f, image)->statics == NULL ? FM_NONE : image;
}

bool fm_images_proc_of_pd(struct finisher *f, uint32_t pd, uint32_t *ret_image, uint32_t *ret_proc)
{
    const struct fm_raw_pd *raw = &f->recording->pds[pd];
    uint64_t file, offset;
    uint32_t image = raw->fn == 0 ? FM_NONE : fm_images_find(f, raw->fn, raw->epoch, &file);
    if (image == FM_NONE)
        return false;
    const struct fm_statics *statics = fm_image(f, image)->statics;
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
    /* A function of a C++ header may have its address in a library that brings it too, though the
     * body that ran was inlined here: its hook stands here, and so does its description. */
    uint32_t here = image_of_hook(f, pd);
    const char *symbol =
        here == FM_NONE || here == image ? NULL : symbol_in(f, fm_image(f, image), file, &offset);
    uint32_t named =
        symbol == NULL || offset != 0 ? FM_NONE : proc_named(f, fm_image(f, here), symbol);
    if (named != FM_NONE) {
        *ret_image = here;
        *ret_proc = named;
    }
    return *ret_proc != FM_NONE;
}

/* All that the recording had no room for. */
static uint32_t lost_ps(struct finisher *f)
{
    static const char key[] = "lost";
    gpointer known = g_hash_table_lookup(f->synthetic, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    struct node_ps ps = {
        .image = FM_NONE,
        .proc = FM_NONE,
        .module = "",
        .name = "not recorded (the recording was full)",
        .linkage = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
    };
    uint32_t index = add_ps(f, &ps);
    g_hash_table_insert(f->synthetic, (gpointer)(uintptr_t)key, GUINT_TO_POINTER(index + 1));
    return index;
}

static uint32_t ps_of_pd(struct finisher *f, uint32_t pd)
{
    const struct fm_raw_pd *raw = &f->recording->pds[pd];
    uint32_t image, proc;
    if (raw->fn == FM_REC_FN_LOST)
        return lost_ps(f);
    if (fm_images_proc_of_pd(f, pd, &image, &proc))
        return add_proc(f, image, proc);
    return synthetic_ps(f, raw->fn, raw->epoch);
}

static uint32_t ps_of_address(struct finisher *f, uint64_t address, uint32_t epoch)
{
    uint64_t file;
    uint32_t image = fm_images_find(f, address, epoch, &file);
    if (image != FM_NONE && fm_image(f, image)->ps_of_proc != NULL) {
        const struct fm_statics *statics = fm_image(f, image)->statics;
        uint32_t proc = fm_statics_proc_at(statics, file);
        if (proc == FM_NONE)
            proc = fm_statics_body_at(statics, file);
        if (proc != FM_NONE)
            return add_proc(f, image, proc);
    }
    return synthetic_ps(f, address, epoch);
}

static uint32_t thread_node(struct finisher *f, const struct fm_raw_thread *thread)
{
    const char *name = "main thread";
    if (thread->tid != f->recording->header.pid) {
        g_autofree char *started = NULL;
        if (thread->started_in != 0) {
            uint32_t ps = ps_of_address(f, thread->started_in, UINT32_MAX - 1);
            started = g_strdup(fm_node_ps(f, ps)->name);
        } else {
            started = g_utf8_make_valid(thread->name, -1);
        }
        name = fm_finish_string(f, "thread %u (%s)", thread->number, started);
    }
    struct node_ps ps = {
        .image = FM_NONE,
        .proc = FM_NONE,
        .module = "",
        .name = name,
        .linkage = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
    };
    return add_ps(f, &ps);
}

static void add_image_sites(struct finisher *f, uint32_t index)
{
    struct image *image = fm_image(f, index);
    const struct fm_statics *statics = image->statics;
    if (image->ps_of_proc == NULL)
        return;
    image->css_of_site = g_new(uint32_t, statics->site_count + 1);
    for (uint32_t i = 0; i < statics->site_count; i++) {
        const struct fm_site *site = &statics->sites[i];
        image->css_of_site[i] = FM_NONE;
        if (image->ps_of_proc[site->proc] == FM_NONE)
            continue;
        struct node_css css = {
            .ps = image->ps_of_proc[site->proc],
            .kind = site->kind,
            .callee = site->callee == FM_NONE ? FM_NONE : image->ps_of_proc[site->callee],
            .file = site->file,
            .line = site->line,
            .column = site->column,
            .label = site->callee_name,
            .inlined = site->inlined,
        };
        gpointer exported =
            site->callee_name == NULL ? NULL : g_hash_table_lookup(f->exported, site->callee_name);
        if (exported != NULL) {
            css.kind = FM_SITE_NORMAL;
            css.callee = GPOINTER_TO_UINT(exported) - 1;
            css.label = NULL;
        } else if (css.label != NULL && strncmp(css.label, "_Z", 2) == 0) {
            g_autofree char *plain = fm_demangle(css.label);
            css.label = fm_finish_string(f, "%s", plain);
        }
        image->css_of_site[i] = fm_images_add_css(f, &css);
    }
}

void fm_images_make_nodes(struct finisher *f)
{
    const struct fm_raw_recording *recording = f->recording;
    for (guint i = 0; i < f->images->len; i++)
        add_image_procs(f, i);
    f->pd_ps = g_new0(uint32_t, recording->pd_count + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        const struct fm_raw_pd *pd = &recording->pds[i];
        bool gone = f->pd_gone != NULL && f->pd_gone[i];
        f->pd_ps[i] = pd->fn == 0 || gone ? FM_NONE : ps_of_pd(f, i);
    }
    f->thread_ps = g_new0(uint32_t, recording->thread_count + 1);
    f->thread_css = g_new0(uint32_t, recording->thread_count + 1);
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        f->thread_ps[i] = thread_node(f, &recording->threads[i]);
        struct node_css css = {
            .ps = f->thread_ps[i],
            .kind = FM_SITE_CALLBACK,
            .callee = FM_NONE,
            .file = "",
            .label = "called by the system",
        };
        f->thread_css[i] = fm_images_add_css(f, &css);
    }
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        if (recording->pds[i].fn == 0)
            f->pd_ps[i] = f->thread_ps[recording->pds[i].thread];
    }
    for (guint i = 0; i < f->images->len; i++)
        add_image_sites(f, i);
}
