/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/nodes.h"

#include <stdarg.h>
#include <string.h>

#include "base/text/demangle.h"
#include "record/statics/hooks_named.h"

/* The name for a pd's fn from 1 to FM_REC_FN_SPECIAL_MAX. */
static const char *special_name(uint64_t fn)
{
    switch (fn) {
    case FM_REC_FN_LOST:
        return "not recorded (the recording was full)";
    case FM_REC_FN_CUT:
        return "callers not known";
    default:
        return "code made at run time";
    }
}

struct fm_node_ps *fm_nodes_ps(const struct fm_nodes *nodes, uint32_t index)
{
    g_assert(index < nodes->ps->len);
    return &g_array_index(nodes->ps, struct fm_node_ps, index);
}

struct fm_node_css *fm_nodes_css(const struct fm_nodes *nodes, uint32_t index)
{
    g_assert(index < nodes->css->len);
    return &g_array_index(nodes->css, struct fm_node_css, index);
}

const char *fm_nodes_string(struct fm_nodes *nodes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return g_string_chunk_insert_const(nodes->strings, text);
}

uint32_t fm_nodes_add_css(struct fm_nodes *nodes, const struct fm_node_css *css)
{
    uint32_t index = nodes->css->len;
    g_array_append_val(nodes->css, *css);
    struct fm_node_css *node = fm_nodes_css(nodes, index);
    struct fm_node_ps *ps = fm_nodes_ps(nodes, css->ps);
    node->slot = ps->css->len;
    node->actual = FM_NONE;
    node->only_virtual = true;
    g_array_append_val(ps->css, index);
    return index;
}

static uint32_t add_ps(struct fm_nodes *nodes, const struct fm_node_ps *ps)
{
    g_array_append_val(nodes->ps, *ps);
    uint32_t index = nodes->ps->len - 1;
    fm_nodes_ps(nodes, index)->css = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return index;
}

/* The body of a coroutine is a separate function: gcc calls it _Z...15_Z5counti.Frame.actor, with a
 * type named after the coroutine; clang _Z5counti.resume. NULL: symbol is not one. */
static char *coroutine_name(const char *symbol)
{
    const char *end = strrchr(symbol, '.'), *what, *begin = symbol, *stop = end;
    if (end == NULL || strncmp(symbol, "_Z", 2) != 0)
        return NULL;
    if (strcmp(end, ".actor") == 0 || strcmp(end, ".resume") == 0)
        what = "body";
    else if (strcmp(end, ".destroy") == 0 || strcmp(end, ".cleanup") == 0)
        what = "end";
    else
        return NULL;
    static const char frame[] = ".Frame";
    const char *type = strstr(symbol, frame);
    if (type != NULL) {
        stop = type;
        begin = g_strrstr_len(symbol, type - symbol, "_Z");
    }
    g_autofree char *mangled = g_strndup(begin, (gsize)(stop - begin));
    g_autofree char *plain = fm_demangle(mangled);
    return strcmp(plain, mangled) == 0 ? NULL : g_strdup_printf("%s [coroutine %s]", plain, what);
}

static const char *full_name(struct fm_nodes *nodes, const struct fm_image_nodes *image,
                             const struct fm_proc *proc)
{
    uint64_t offset;
    const char *symbol = proc->cplusplus && proc->entry != 0
                             ? fm_statics_symbol_at(image->statics, proc->entry, &offset)
                             : NULL;
    g_autofree char *coroutine = symbol != NULL && offset == 0 ? coroutine_name(symbol) : NULL;
    if (coroutine != NULL)
        return fm_nodes_string(nodes, "%s", coroutine);
    if (!proc->cplusplus && strncmp(proc->linkage, "_Z", 2) == 0)
        return proc->name;
    g_autofree char *plain = fm_demangle(proc->linkage);
    return strcmp(plain, proc->linkage) == 0 ? proc->name : fm_nodes_string(nodes, "%s", plain);
}

/* A C++ function whose description lacks the linker's name has one as a symbol; a clone's has a
 * suffix after a dot. */
static const char *linker_name(struct fm_nodes *nodes, const struct fm_image_nodes *image,
                               const struct fm_proc *proc)
{
    uint64_t offset;
    if (!proc->cplusplus || proc->entry == 0)
        return proc->linkage;
    const char *symbol = fm_statics_symbol_at(image->statics, proc->entry, &offset);
    if (symbol == NULL || offset != 0)
        return proc->linkage;
    return fm_nodes_string(nodes, "%.*s", (int)strcspn(symbol, "."), symbol);
}

static uint32_t add_proc(struct fm_nodes *nodes, uint32_t image_index, uint32_t proc_index)
{
    struct fm_image_nodes *image = &nodes->of_image[image_index];
    if (image->ps_of_proc[proc_index] != FM_NONE)
        return image->ps_of_proc[proc_index];
    struct fm_proc proc = image->statics->procs[proc_index];
    proc.linkage = linker_name(nodes, image, &proc);
    struct fm_node_ps ps = {
        .image = image_index,
        .proc = proc_index,
        .module = proc.unit,
        .name = full_name(nodes, image, &proc),
        .linkage = proc.linkage,
        .file = proc.file,
        .line = proc.line,
        .arity = proc.arity,
        .variadic = proc.variadic,
        .external = proc.external,
        .virtual_method = proc.virtual_method,
        .inlined = proc.inlined && !fm_images_at(nodes->images, image_index)->unwound,
    };
    uint32_t index = add_ps(nodes, &ps);
    image->ps_of_proc[proc_index] = index;
    if (proc.external)
        g_hash_table_insert(nodes->exported, (gpointer)(uintptr_t)proc.linkage,
                            GUINT_TO_POINTER(index + 1));
    return index;
}

static void add_image_procs(struct fm_nodes *nodes, uint32_t index)
{
    struct fm_image_nodes *image = &nodes->of_image[index];
    const struct fm_statics *statics = image->statics = fm_images_at(nodes->images, index)->statics;
    if (statics == NULL || statics->proc_count == 0)
        return;
    image->ps_of_proc = g_new(uint32_t, statics->proc_count);
    memset(image->ps_of_proc, 0xff, statics->proc_count * sizeof *image->ps_of_proc);
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        if (statics->procs[i].instrumented)
            add_proc(nodes, index, i);
    }
}

static uint32_t synthetic_ps(struct fm_nodes *nodes, uint64_t address, uint32_t epoch)
{
    uint64_t file = address;
    uint32_t image = fm_images_find(nodes->images, address, epoch, &file);
    const char *key = fm_nodes_string(nodes, "ps %u %" G_GINT64_MODIFIER "x", image, (guint64)file);
    gpointer known = g_hash_table_lookup(nodes->synthetic, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    const char *module =
        image == FM_NONE ? "unknown code" : fm_images_at(nodes->images, image)->name;
    g_autofree char *name = fm_images_describe(nodes->images, address, epoch);
    struct fm_node_ps ps = {
        .image = FM_NONE,
        .proc = FM_NONE,
        .module = module,
        .name = fm_nodes_string(nodes, "%s", name),
        .linkage = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
    };
    uint32_t index = add_ps(nodes, &ps);
    g_hash_table_insert(nodes->synthetic, (gpointer)(uintptr_t)key, GUINT_TO_POINTER(index + 1));
    return index;
}

/* A procedure of a pd without a known function. */
static uint32_t special_ps(struct fm_nodes *nodes, uint64_t fn)
{
    const char *key = special_name(fn);
    gpointer known = g_hash_table_lookup(nodes->synthetic, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    struct fm_node_ps ps = {
        .image = FM_NONE,
        .proc = FM_NONE,
        .module = "",
        .name = key,
        .linkage = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
    };
    uint32_t index = add_ps(nodes, &ps);
    g_hash_table_insert(nodes->synthetic, (gpointer)(uintptr_t)key, GUINT_TO_POINTER(index + 1));
    return index;
}

static uint32_t ps_of_pd(struct fm_nodes *nodes, uint32_t pd)
{
    const struct fm_raw_pd *raw = &nodes->recording->pds[pd];
    uint32_t image, proc;
    if (raw->fn != 0 && raw->fn <= FM_REC_FN_SPECIAL_MAX)
        return special_ps(nodes, raw->fn);
    if (fm_images_proc_of_pd(nodes->images, pd, &image, &proc))
        return add_proc(nodes, image, proc);
    return synthetic_ps(nodes, raw->fn, raw->epoch);
}

static uint32_t ps_of_address(struct fm_nodes *nodes, uint64_t address, uint32_t epoch)
{
    uint64_t file;
    uint32_t image = fm_images_find(nodes->images, address, epoch, &file);
    if (image != FM_NONE && nodes->of_image[image].ps_of_proc != NULL) {
        const struct fm_statics *statics = nodes->of_image[image].statics;
        uint32_t proc = fm_statics_proc_at(statics, file);
        if (proc == FM_NONE)
            proc = fm_statics_body_at(statics, file);
        if (proc != FM_NONE)
            return add_proc(nodes, image, proc);
    }
    return synthetic_ps(nodes, address, epoch);
}

static uint32_t thread_node(struct fm_nodes *nodes, const struct fm_raw_thread *thread)
{
    const char *name = "main thread";
    if (thread->tid != nodes->recording->header.pid) {
        g_autofree char *started = NULL;
        if (thread->started_in != 0) {
            uint32_t ps = ps_of_address(nodes, thread->started_in, UINT32_MAX - 1);
            started = g_strdup(fm_nodes_ps(nodes, ps)->name);
        } else {
            started = g_utf8_make_valid(thread->name, -1);
        }
        name = fm_nodes_string(nodes, "thread %u (%s)", thread->number, started);
    }
    struct fm_node_ps ps = {
        .image = FM_NONE,
        .proc = FM_NONE,
        .module = "",
        .name = name,
        .linkage = "",
        .file = "",
        .arity = FM_ARITY_UNKNOWN,
    };
    return add_ps(nodes, &ps);
}

static void add_image_sites(struct fm_nodes *nodes, uint32_t index)
{
    struct fm_image_nodes *image = &nodes->of_image[index];
    const struct fm_statics *statics = image->statics;
    if (image->ps_of_proc == NULL)
        return;
    image->css_of_site = g_new(uint32_t, statics->site_count + 1);
    for (uint32_t i = 0; i < statics->site_count; i++) {
        const struct fm_site *site = &statics->sites[i];
        image->css_of_site[i] = FM_NONE;
        if (image->ps_of_proc[site->proc] == FM_NONE)
            continue;
        struct fm_node_css css = {
            .ps = image->ps_of_proc[site->proc],
            .kind = site->kind,
            .callee = site->callee == FM_NONE ? FM_NONE : image->ps_of_proc[site->callee],
            .file = site->file,
            .line = site->line,
            .column = site->column,
            .label = site->callee_name,
            .inlined = site->inlined,
        };
        gpointer exported = site->callee_name == NULL
                                ? NULL
                                : g_hash_table_lookup(nodes->exported, site->callee_name);
        if (exported != NULL) {
            css.kind = FM_SITE_NORMAL;
            css.callee = GPOINTER_TO_UINT(exported) - 1;
            css.label = NULL;
        } else if (css.label != NULL && strncmp(css.label, "_Z", 2) == 0) {
            g_autofree char *plain = fm_demangle(css.label);
            css.label = fm_nodes_string(nodes, "%s", plain);
        }
        image->css_of_site[i] = fm_nodes_add_css(nodes, &css);
    }
}

void fm_nodes_make(struct fm_nodes *nodes, const struct fm_images *images,
                   const struct fm_raw_recording *recording, const bool *gone)
{
    g_assert(images->recording == recording);
    *nodes = (struct fm_nodes){
        .images = images,
        .recording = recording,
        .strings = g_string_chunk_new(4096),
        .ps = g_array_new(FALSE, TRUE, sizeof(struct fm_node_ps)),
        .css = g_array_new(FALSE, TRUE, sizeof(struct fm_node_css)),
        .of_image = g_new0(struct fm_image_nodes, images->all->len + 1),
        .synthetic = g_hash_table_new(g_str_hash, g_str_equal),
        .exported = g_hash_table_new(g_str_hash, g_str_equal),
    };
    for (guint i = 0; i < nodes->images->all->len; i++)
        add_image_procs(nodes, i);
    nodes->pd_ps = g_new0(uint32_t, recording->pd_count + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        const struct fm_raw_pd *pd = &recording->pds[i];
        bool left = gone != NULL && gone[i];
        nodes->pd_ps[i] = pd->fn == 0 || left ? FM_NONE : ps_of_pd(nodes, i);
    }
    nodes->thread_ps = g_new0(uint32_t, recording->thread_count + 1);
    nodes->thread_css = g_new0(uint32_t, recording->thread_count + 1);
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        nodes->thread_ps[i] = thread_node(nodes, &recording->threads[i]);
        struct fm_node_css css = {
            .ps = nodes->thread_ps[i],
            .kind = FM_SITE_CALLBACK,
            .callee = FM_NONE,
            .file = "",
            .label = "called by the system",
        };
        nodes->thread_css[i] = fm_nodes_add_css(nodes, &css);
    }
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        if (recording->pds[i].fn == 0)
            nodes->pd_ps[i] = nodes->thread_ps[recording->pds[i].thread];
    }
    for (guint i = 0; i < nodes->images->all->len; i++)
        add_image_sites(nodes, i);
}

const struct fm_image_nodes *fm_nodes_image_of(const struct fm_nodes *nodes, uint64_t address,
                                               uint32_t epoch, uint64_t *ret_file)
{
    uint32_t index = fm_images_find(nodes->images, address, epoch, ret_file);
    if (index == FM_NONE || nodes->of_image[index].css_of_site == NULL)
        return NULL;
    return &nodes->of_image[index];
}

/* Hooks may be inlined bodies themselves. */
uint32_t fm_nodes_body_of_hook(const struct fm_nodes *nodes, const struct fm_raw_csd *csd,
                               const struct fm_image_nodes **ret_image)
{
    uint64_t file;
    const struct fm_image_nodes *image = *ret_image =
        fm_nodes_image_of(nodes, csd->hook_pc, csd->epoch, &file);
    uint32_t scope = image == NULL ? FM_NONE : fm_statics_scope_at(image->statics, file - 1);
    while (scope != FM_NONE &&
           fm_statics_is_hook(image->statics->procs[image->statics->scopes[scope].proc].linkage))
        scope = image->statics->scopes[scope].parent;
    return scope;
}

void fm_nodes_done(struct fm_nodes *nodes)
{
    for (guint i = 0; i < nodes->ps->len; i++)
        g_array_unref(fm_nodes_ps(nodes, i)->css);
    for (guint i = 0; i < nodes->images->all->len; i++) {
        g_free(nodes->of_image[i].ps_of_proc);
        g_free(nodes->of_image[i].css_of_site);
        g_clear_pointer(&nodes->of_image[i].places, g_hash_table_unref);
    }
    g_array_unref(nodes->ps);
    g_array_unref(nodes->css);
    g_hash_table_unref(nodes->synthetic);
    g_hash_table_unref(nodes->exported);
    g_free(nodes->of_image);
    g_free(nodes->pd_ps);
    g_free(nodes->thread_ps);
    g_free(nodes->thread_css);
    g_string_chunk_free(nodes->strings);
}
