/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/read_internal.h"

#include "base/error.h"
#include "base/memory.h"
#include "profile/file/goal_path.h"

bool fm_read_no_memory(struct fm_profile_reading *reading, GError **error)
{
    return fm_reader_fail(&reading->in, reading->in.at, FM_ERROR_LIMIT, error,
                          "not enough memory for the measurements");
}

bool fm_read_string(struct fm_profile_reading *reading, const char *what, const char **ret,
                    GError **error)
{
    const char *bytes;
    size_t length;
    if (!fm_reader_string(&reading->in, what, &bytes, &length, error))
        return false;
    *ret = fm_strings_add_bytes(reading->profile->storage->strings, bytes, length);
    return true;
}

static bool read_goal_path(struct fm_profile_reading *reading, const char **ret, GError **error)
{
    const uint8_t *at = reading->in.at;
    if (!fm_read_string(reading, "goal path", ret, error))
        return false;
    if (reading->profile->flavour == FM_FLAVOUR_MERCURY && !fm_goal_path_is_valid(*ret))
        return fm_reader_fail(&reading->in, at, FM_ERROR_FORMAT, error, "bad goal path \"%s\"",
                              *ret);
    return true;
}

/* The id of the node that begins here: 1 to count. */
static inline bool read_node_id(struct fm_profile_reading *reading, uint32_t count, GError **error)
{
    const uint8_t *at = reading->in.at;
    uint64_t id;
    if (!fm_reader_num(&reading->in, "id of a node", &id, error))
        return false;
    if (FM_UNLIKELY(id - 1 >= count))
        return fm_reader_fail(&reading->in, at, FM_ERROR_FORMAT, error,
                              "id of a %s is %" G_GUINT64_FORMAT ", expected 1 to %u",
                              fm_node_names[reading->token], id, count);
    reading->id = (uint32_t)id;
    return true;
}

static bool fail_twice(struct fm_profile_reading *reading, GError **error)
{
    return fm_reader_fail(&reading->in, reading->node, FM_ERROR_FORMAT, error,
                          "%s %u is defined twice", fm_node_names[reading->token], reading->id);
}

/* A reference to a node of another kind: 1 to count, or 0 where none is allowed. */
static inline bool read_reference(struct fm_profile_reading *reading, enum fm_node_token token,
                                  uint32_t count, bool none_allowed, uint32_t *ret, GError **error)
{
    const uint8_t *at = reading->in.at;
    uint64_t id;
    if (!fm_reader_num(&reading->in, "reference to a node", &id, error))
        return false;
    if (FM_UNLIKELY(id - 1 >= count) && !(id == 0 && none_allowed))
        return fm_reader_fail(&reading->in, at, FM_ERROR_FORMAT, error,
                              "%s %u refers to %s %" G_GUINT64_FORMAT ", expected %u to %u",
                              fm_node_names[reading->token], reading->id, fm_node_names[token], id,
                              none_allowed ? 0 : 1, count);
    *ret = (uint32_t)id;
    return true;
}

static inline bool read_site_kind(struct fm_profile_reading *reading, enum fm_site_kind *ret,
                                  GError **error)
{
    uint8_t kind;
    if (!fm_reader_byte(&reading->in, "kind of a call site", &kind, error))
        return false;
    bool known = kind <= FM_SITE_CALLBACK ||
                 (kind == FM_SITE_UNKNOWN && reading->profile->flavour == FM_FLAVOUR_C);
    if (FM_UNLIKELY(!known))
        return fm_reader_fail(&reading->in, reading->in.at - 1, FM_ERROR_FORMAT, error,
                              "unexpected call_site_kind %u, expected 0 to %u", kind,
                              FM_SITE_CALLBACK);
    *ret = (enum fm_site_kind)kind;
    return true;
}

bool fm_read_css(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    if (!read_node_id(reading, profile->css_count, error))
        return false;
    struct fm_css *css = &profile->css[reading->id];
    if (css->goal_path)
        return fail_twice(reading, error);
    css->type_subst = css->file = "";
    if (profile->flavour == FM_FLAVOUR_C && reading->in.at < reading->in.end &&
        *reading->in.at == FM_SITE_BYTE_INLINED) {
        reading->in.at++;
        css->kind = FM_SITE_NORMAL;
        css->inlined = true;
    } else if (!read_site_kind(reading, &css->kind, error)) {
        return false;
    }
    if (css->kind == FM_SITE_NORMAL &&
        (!read_reference(reading, FM_TOKEN_PS, profile->ps_count, profile->flavour == FM_FLAVOUR_C,
                         &css->callee_ps, error) ||
         !fm_read_string(reading, "type substitution", &css->type_subst, error)))
        return false;
    bool has_file = profile->flavour == FM_FLAVOUR_C || profile->version >= 9;
    if (has_file && !fm_read_string(reading, "file name", &css->file, error))
        return false;
    return fm_reader_u32(&reading->in, "line number", &css->line, error) &&
           read_goal_path(reading, &css->goal_path, error);
}

static inline bool set_own(struct fm_profile_reading *reading, unsigned measure, uint32_t csd,
                           uint64_t value)
{
    struct fm_column *column = &reading->profile->csd_own[measure];
    size_t count = reading->profile->csd_count + (size_t)1;
    if (FM_UNLIKELY(value > UINT32_MAX) && column->width == sizeof(uint32_t) &&
        reading->prefault != NULL) /* it will be wider, elsewhere */
        fm_prefault_forget(reading->prefault, column->u32, count * sizeof(uint32_t));
    return fm_column_set(column, count, csd, value);
}

bool fm_read_csd(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    struct fm_reader *in = &reading->in;
    uint32_t callee;
    if (!read_node_id(reading, profile->csd_count, error) ||
        !read_reference(reading, FM_TOKEN_PD, profile->pd_count, false, &callee, error))
        return false;
    uint32_t id = reading->id;
    if (FM_UNLIKELY(profile->csd_callee[id] != 0))
        return fail_twice(reading, error);
    profile->csd_callee[id] = callee;
    const uint8_t *mask_at = in->at;
    uint64_t mask, value;
    if (!fm_reader_num(in, "mask of measurements", &mask, error))
        return false;
    if (FM_UNLIKELY((mask & ~(uint64_t)reading->mask_allowed) != 0))
        return fm_reader_fail(in, mask_at, FM_ERROR_FORMAT, error,
                              "mask of measurements is 0x%" G_GINT64_MODIFIER
                              "x, expected no bits but 0x%x",
                              mask, reading->mask_allowed);
    if (FM_UNLIKELY((mask & FM_MASK_EXPLICIT_CALLS) != 0) &&
        !fm_reader_num(in, "explicit call count", &value, error))
        return false;
    uint32_t measures = reading->measures_of_mask[mask & FM_MASK_MERCURY] |
                        (uint32_t)(mask >> 9) << FM_MEASURES_MERCURY;
    while (measures != 0) {
        unsigned measure = (unsigned)__builtin_ctz(measures);
        measures &= measures - 1;
        if (!fm_reader_num(in, "measurement", &value, error))
            return false;
        if (FM_UNLIKELY(!set_own(reading, measure, id, value)))
            return fm_read_no_memory(reading, error);
    }
    reading->last_csd = id;
    return true;
}

static bool read_label_mercury(struct fm_profile_reading *reading, uint8_t kind, struct fm_ps *ps,
                               GError **error)
{
    struct fm_reader *in = &reading->in;
    ps->label_kind = (enum fm_label_kind)kind;
    if (kind == FM_LABEL_SPECIAL && !fm_read_string(reading, "type name", &ps->type_name, error))
        return false;
    return fm_read_string(reading, "declaring module", &ps->decl_module, error) &&
           fm_read_string(reading, "defining module", &ps->def_module, error) &&
           fm_read_string(reading, "procedure name", &ps->name, error) &&
           fm_reader_u32(in, "arity", &ps->arity, error) &&
           fm_reader_u32(in, "mode number", &ps->mode, error);
}

static bool read_label_c(struct fm_profile_reading *reading, struct fm_ps *ps, GError **error)
{
    struct fm_reader *in = &reading->in;
    uint32_t arity;
    uint8_t flags;
    ps->label_kind = FM_LABEL_FUNCTION;
    if (!fm_read_string(reading, "translation unit", &ps->decl_module, error) ||
        !fm_read_string(reading, "function name", &ps->name, error) ||
        !fm_read_string(reading, "linker name", &ps->raw_name, error) ||
        !fm_reader_u32(in, "arity", &arity, error) ||
        !fm_reader_byte(in, "flags of a function", &flags, error))
        return false;
    if (flags & ~(FM_LABEL_C_VARIADIC | FM_LABEL_C_INLINED))
        return fm_reader_fail(in, in->at - 1, FM_ERROR_FORMAT, error,
                              "flags of a function are 0x%x, expected 0 to 3", flags);
    ps->def_module = ps->decl_module;
    ps->arity = arity == 0 ? FM_ARITY_UNKNOWN : arity - 1;
    ps->variadic = (flags & FM_LABEL_C_VARIADIC) != 0;
    ps->inlined = (flags & FM_LABEL_C_INLINED) != 0;
    return true;
}

static bool read_label(struct fm_profile_reading *reading, struct fm_ps *ps, GError **error)
{
    bool mercury = reading->profile->flavour == FM_FLAVOUR_MERCURY;
    uint8_t kind;
    if (!fm_reader_byte(&reading->in, "kind of a procedure label", &kind, error))
        return false;
    if (mercury ? kind > FM_LABEL_SPECIAL : kind != FM_LABEL_KIND_C)
        return fm_reader_fail(&reading->in, reading->in.at - 1, FM_ERROR_FORMAT, error,
                              "unexpected proclabel_kind %u, expected %s", kind,
                              mercury ? "0 to 2" : "3");
    return mercury ? read_label_mercury(reading, kind, ps, error)
                   : read_label_c(reading, ps, error);
}

static bool read_sites(struct fm_profile_reading *reading, struct fm_ps *ps, GError **error)
{
    if (!fm_reader_count(&reading->in, "number of call sites", 1, &ps->css_count, error))
        return false;
    ps->css_first = (uint32_t)reading->css_of_ps.count;
    for (uint32_t i = 0; i < ps->css_count; i++) {
        uint32_t css;
        if (!read_reference(reading, FM_TOKEN_CSS, reading->profile->css_count, false, &css, error))
            return false;
        fm_u32s_push(&reading->css_of_ps, css);
    }
    return true;
}

static bool read_points(struct fm_profile_reading *reading, struct fm_ps *ps, GError **error)
{
    bool counted = reading->profile->coverage == FM_COVERAGE_STATIC;
    ps->point_first = reading->points->len;
    if (reading->profile->coverage == FM_COVERAGE_NONE)
        return true;
    if (!fm_reader_count(&reading->in, "number of coverage points", counted ? 3 : 2,
                         &ps->point_count, error))
        return false;
    for (uint32_t i = 0; i < ps->point_count; i++) {
        struct fm_coverage_point point = {0};
        uint64_t type;
        if (!read_goal_path(reading, &point.goal_path, error) ||
            !fm_reader_num_max(&reading->in, "type of a coverage point", FM_POINT_BRANCH_ARM, &type,
                               error) ||
            (counted && !fm_reader_num(&reading->in, "coverage count", &point.count, error)))
            return false;
        point.type = (enum fm_coverage_point_type)type;
        g_array_append_val(reading->points, point);
    }
    return true;
}

bool fm_read_ps(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    struct fm_reader *in = &reading->in;
    if (!read_node_id(reading, profile->ps_count, error))
        return false;
    struct fm_ps *ps = &profile->ps[reading->id];
    if (ps->name)
        return fail_twice(reading, error);
    ps->type_name = "";
    uint8_t in_interface;
    if (!read_label(reading, ps, error) ||
        !fm_read_string(reading, "file name", &ps->file, error) ||
        !fm_reader_u32(in, "line number", &ps->line, error) ||
        !fm_reader_byte(in, "interface flag", &in_interface, error) ||
        !read_sites(reading, ps, error) || !read_points(reading, ps, error))
        return false;
    ps->in_interface = in_interface != 0;
    fm_names_derive(profile->storage->strings, profile->flavour, ps);
    return true;
}

/* Doubling, and widening from 0 over 4 to 8 bytes an element: how many there will be is not known
 * before all pds are read. */
static bool push_count(struct fm_profile_reading *reading, uint64_t value)
{
    struct fm_column *counts = &reading->counts;
    if (reading->counts_used == reading->counts_capacity) {
        size_t capacity = MAX((size_t)256, reading->counts_capacity * 2);
        if (counts->width != 0) {
            uint8_t *grown = fm_memory_try_resize(counts->u32, capacity, counts->width);
            if (!grown)
                return false;
            counts->u32 = (uint32_t *)(void *)grown;
        }
        reading->counts_capacity = capacity;
    }
    return fm_column_set(counts, reading->counts_capacity, reading->counts_used++, value);
}

static bool read_counts(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    uint32_t count;
    if (!fm_reader_count(&reading->in, "number of coverage counts", 1, &count, error))
        return false;
    profile->pd_point_first[reading->id] = reading->counts_used;
    if (reading->pd_point_count)
        reading->pd_point_count[reading->id] = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;
        if (!fm_reader_num(&reading->in, "coverage count", &value, error))
            return false;
        if (!push_count(reading, value))
            return fm_read_no_memory(reading, error);
    }
    return true;
}

/* Notes that the pd being read is the caller of csd. */
static inline bool claim(struct fm_profile_reading *reading, uint32_t csd, GError **error)
{
    uint32_t *caller = &reading->profile->csd_caller[csd];
    if (FM_UNLIKELY(*caller != 0))
        return fm_reader_fail(&reading->in, reading->node, FM_ERROR_FORMAT, error,
                              "call site dynamic %u stands in slots of proc dynamics %u and %u",
                              csd, *caller, reading->id);
    *caller = reading->id;
    return true;
}

static bool read_list(struct fm_profile_reading *reading, enum fm_site_kind kind, GError **error)
{
    struct fm_u32s *multi = &reading->multi;
    size_t list = multi->count;
    fm_u32s_push(multi, 0);
    for (;;) {
        uint32_t csd;
        if (!read_reference(reading, FM_TOKEN_CSD, reading->profile->csd_count, true, &csd, error))
            return false;
        if (csd == 0)
            break;
        if (!claim(reading, csd, error))
            return false;
        fm_u32s_push(multi, csd);
    }
    size_t count = multi->count - list - 1;
    if (count == 0) {
        multi->count = list; /* all empty lists of a kind are one */
        list = kind;
    } else if (count > FM_LIST_COUNT_MAX || list >= FM_SLOT_MULTI) {
        return fm_reader_fail(&reading->in, reading->node, FM_ERROR_LIMIT, error,
                              "too many call site dynamics in lists, expected at most %u",
                              FM_LIST_COUNT_MAX);
    } else {
        multi->items[list] = (uint32_t)count | (uint32_t)kind << FM_LIST_KIND_SHIFT;
    }
    fm_u32s_push(&reading->slots, FM_SLOT_MULTI | (uint32_t)list);
    return true;
}

static bool read_slot(struct fm_profile_reading *reading, GError **error)
{
    enum fm_site_kind kind;
    if (!read_site_kind(reading, &kind, error))
        return false;
    if (kind != FM_SITE_NORMAL)
        return read_list(reading, kind, error);
    uint32_t csd;
    if (!read_reference(reading, FM_TOKEN_CSD, reading->profile->csd_count, true, &csd, error) ||
        (csd != 0 && !claim(reading, csd, error)))
        return false;
    fm_u32s_push(&reading->slots, csd);
    return true;
}

/* The pds stop coming in order: from now on their numbers of slots and counts are kept. */
static bool leave_order(struct fm_profile_reading *reading, GError **error)
{
    const struct fm_profile *profile = reading->profile;
    size_t pds = profile->pd_count;
    reading->in_order = false;
    reading->pd_slot_count = fm_array_alloc(reading->in.name, pds + 1, sizeof(uint32_t), error);
    if (!reading->pd_slot_count)
        return false;
    for (uint32_t pd = 1; pd <= reading->last_pd; pd++) {
        size_t end = pd < reading->last_pd ? profile->pd_slot_first[pd + 1] : reading->slots.count;
        reading->pd_slot_count[pd] = (uint32_t)(end - profile->pd_slot_first[pd]);
    }
    if (!profile->pd_point_first)
        return true;
    reading->pd_point_count = fm_array_alloc(reading->in.name, pds + 1, sizeof(uint32_t), error);
    if (!reading->pd_point_count)
        return false;
    for (uint32_t pd = 1; pd <= reading->last_pd; pd++) {
        uint64_t end =
            pd < reading->last_pd ? profile->pd_point_first[pd + 1] : reading->counts_used;
        reading->pd_point_count[pd] = (uint32_t)(end - profile->pd_point_first[pd]);
    }
    return true;
}

/* Most slots are empty: no csd was made there in this context. */
static bool read_slots(struct fm_profile_reading *reading, uint32_t count, GError **error)
{
    struct fm_reader *in = &reading->in;
    for (uint32_t slot = 0; slot < count; slot++) {
        if (FM_LIKELY(in->end - in->at >= 2) && in->at[1] == 0 && in->at[0] < FM_SITE_KINDS) {
            uint32_t kind = in->at[0];
            fm_u32s_push(&reading->slots, kind == FM_SITE_NORMAL ? 0 : FM_SLOT_MULTI | kind);
            in->at += 2;
        } else if (!read_slot(reading, error)) {
            return false;
        }
    }
    return true;
}

bool fm_read_pd(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    uint32_t slots;
    if (!read_node_id(reading, profile->pd_count, error))
        return false;
    uint32_t id = reading->id;
    if (FM_UNLIKELY(profile->pd_ps[id] != 0))
        return fail_twice(reading, error);
    if (!read_reference(reading, FM_TOKEN_PS, profile->ps_count, false, &profile->pd_ps[id],
                        error) ||
        !fm_reader_count(&reading->in, "number of slots", 2, &slots, error))
        return false;
    if (FM_UNLIKELY(reading->in_order && id != reading->last_pd + 1) &&
        !leave_order(reading, error))
        return false;
    if (profile->coverage == FM_COVERAGE_DYNAMIC && !read_counts(reading, error))
        return false;
    if (reading->slots.count + slots > UINT32_MAX)
        return fm_reader_fail(&reading->in, reading->node, FM_ERROR_LIMIT, error,
                              "more than %u slots in all proc dynamics", UINT32_MAX);
    profile->pd_slot_first[id] = (uint32_t)reading->slots.count;
    if (reading->pd_slot_count)
        reading->pd_slot_count[id] = slots;
    reading->last_pd = id;
    return read_slots(reading, slots, error);
}
