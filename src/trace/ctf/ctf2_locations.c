/* SPDX-License-Identifier: Apache-2.0 */
/* Locations of the lengths of arrays and the selectors of variants. Options are selected by ranges
 * of the selector's values, which become labels of it. */
#include <string.h>

#include "trace/ctf/ctf2_internal.h"

/* --- locations --- */

static bool is_within(const struct ctf2_field *field, const struct ctf2_field *outer)
{
    while (field != NULL && field != outer)
        field = field->parent;
    return field != NULL;
}

static struct ctf2_field *outer_structure(struct ctf2_field *field)
{
    do
        field = field->parent;
    while (field != NULL && field->kind != CTF2_STRUCTURE);
    return field;
}

/* Goes from arrays and variants to the element or option that the source is in. */
static struct ctf2_field *current_part(struct ctf2_field *at, const struct ctf2_field *source)
{
    while (at != NULL && (at->kind == CTF2_ARRAY || at->kind == CTF2_VARIANT)) {
        struct ctf2_field *next = NULL;
        for (guint i = 0; i < at->parts->len; i++) {
            if (is_within(source, at->parts->pdata[i]))
                next = at->parts->pdata[i];
        }
        at = next;
    }
    return at;
}

static struct ctf2_field *member_named(struct ctf2_field *structure, struct fm_json_value name)
{
    for (guint i = 0; i < structure->parts->len; i++) {
        struct ctf2_field *part = structure->parts->pdata[i];
        if (fm_json_equals(name, part->name))
            return part;
    }
    return NULL;
}

/* The begin of the path; NULL: there is none. */
static struct ctf2_field *origin_of(struct ctf2_field *source,
                                    struct ctf2_field *const scopes[CTF2_SCOPES])
{
    static const char *const names[CTF2_SCOPES] = {
        [CTF2_PACKET_HEADER] = "packet-header",
        [CTF2_PACKET_CONTEXT] = "packet-context",
        [CTF2_EVENT_HEADER] = "event-record-header",
        [CTF2_COMMON_CONTEXT] = "event-record-common-context",
        [CTF2_SPECIFIC_CONTEXT] = "event-record-specific-context",
        [CTF2_PAYLOAD] = "event-record-payload",
    };
    struct fm_json_value origin = fm_json_member(source->location, "origin");
    if (origin.at == NULL)
        return outer_structure(source);
    for (unsigned i = 0; i < CTF2_SCOPES; i++) {
        if (fm_json_equals(origin, names[i]))
            return scopes[i];
    }
    return NULL;
}

static struct ctf2_field *target_of(struct ctf2_field *source,
                                    struct ctf2_field *const scopes[CTF2_SCOPES])
{
    struct fm_json_items items = fm_json_items(fm_json_member(source->location, "path"));
    struct fm_json_value item;
    struct ctf2_field *at = origin_of(source, scopes);
    while (at != NULL && fm_json_next(&items, NULL, &item)) {
        at = current_part(at, source);
        if (at == NULL || at->kind != CTF2_STRUCTURE)
            return NULL;
        at = *item.at == 'n' ? outer_structure(at) : member_named(at, item);
    }
    return at;
}

static bool is_before(const struct ctf2_field *target, const struct ctf2_field *source)
{
    return target->scope != source->scope ? target->scope < source->scope
                                          : target->number < source->number;
}

/* --- selectors --- */

static struct ctf2_range all_values(const struct ctf2_field *integer)
{
    uint64_t most = integer->bits == 64 ? UINT64_MAX : (UINT64_C(1) << integer->bits) - 1;
    uint64_t low = integer->is_signed ? CTF2_BIAS - (most / 2 + 1) : 0;
    return (struct ctf2_range){low, low + most};
}

static int compare_ranges(const void *a, const void *b)
{
    uint64_t left = ((const struct ctf2_range *)a)->low;
    uint64_t right = ((const struct ctf2_range *)b)->low;
    return left < right ? -1 : left > right;
}

/* The values of the integer that are in none of the ranges, which are sorted. */
static void invert(const struct ctf2_field *integer, GArray *ranges, GArray *ret)
{
    struct ctf2_range all = all_values(integer);
    uint64_t next = all.low;
    g_array_sort(ranges, compare_ranges);
    for (guint i = 0; i < ranges->len; i++) {
        struct ctf2_range range = g_array_index(ranges, struct ctf2_range, i);
        struct ctf2_range gap = {next, MIN(range.low - 1, all.high)};
        if (range.low > next && gap.low <= gap.high)
            g_array_append_val(ret, gap);
        if (range.high >= all.high)
            return;
        next = MAX(next, range.high + 1);
    }
    struct ctf2_range rest = {next, all.high};
    g_array_append_val(ret, rest);
}

static void add_label(struct ctf2_field *target, const struct ctf2_field *option,
                      const GArray *ranges)
{
    if (target->labels == NULL)
        target->labels = g_string_new(NULL);
    fm_ctf2_append_label(target->labels, option->id, target, ranges);
}

/* A variant of TSDL names its selector by one identifier, which is looked for in the structures
 * around it, from the innermost. */
static bool is_visible(const struct ctf2_field *target, struct ctf2_field *variant)
{
    struct ctf2_field *around = outer_structure(variant);
    for (; around != NULL && around != target->parent; around = outer_structure(around)) {
        for (guint i = 0; i < around->parts->len; i++) {
            const struct ctf2_field *part = around->parts->pdata[i];
            if (strcmp(part->id, target->id) == 0)
                return false;
        }
    }
    return around != NULL;
}

static bool label_optional(struct ctf2 *ctf2, struct ctf2_field *field)
{
    struct fm_json_value value = fm_json_member(field->class_, "selector-field-ranges");
    g_autoptr(GArray) there = g_array_new(FALSE, FALSE, sizeof(struct ctf2_range));
    g_autoptr(GArray) absent = g_array_new(FALSE, FALSE, sizeof(struct ctf2_range));
    if (field->target->is_boolean) {
        struct ctf2_range no = {0, 0};
        g_array_append_val(absent, no);
        invert(field->target, absent, there);
    } else if (fm_ctf2_ranges(ctf2, field->target, value, there)) {
        invert(field->target, there, absent);
    } else {
        return false;
    }
    add_label(field->target, field->parts->pdata[0], there);
    if (absent->len > 0)
        add_label(field->target, field->parts->pdata[1], absent);
    else /* an option that is never selected */
        g_ptr_array_remove_index(field->parts, 1);
    return true;
}

static bool label_variant(struct ctf2 *ctf2, struct ctf2_field *field)
{
    struct fm_json_items items = fm_json_items(fm_json_member(field->class_, "options"));
    struct fm_json_value option;
    for (guint i = 0; i < field->parts->len && fm_json_next(&items, NULL, &option); i++) {
        g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct ctf2_range));
        struct fm_json_value value = fm_json_member(option, "selector-field-ranges");
        if (!fm_ctf2_ranges(ctf2, field->target, value, ranges))
            return false;
        add_label(field->target, field->parts->pdata[i], ranges);
    }
    return true;
}

static bool link_location(struct ctf2 *ctf2, struct ctf2_field *field,
                          struct ctf2_field *const scopes[CTF2_SCOPES])
{
    bool array = field->kind == CTF2_ARRAY;
    const char *word = array ? "length" : "selector";
    struct ctf2_field *target = target_of(field, scopes);
    if (target == NULL || !is_before(target, field))
        return fm_ctf2_fail_field(ctf2, field, "its %s-field-location leads to no field before it",
                                  word);
    if (target->kind != CTF2_INTEGER || (array && target->is_signed))
        return fm_ctf2_fail_field(ctf2, field,
                                  "its %s-field-location leads to a field that is no %sinteger",
                                  word, array ? "unsigned " : "");
    field->target = target;
    if (array)
        return true;
    if (!is_visible(target, field))
        return fm_ctf2_fail_field(ctf2, field,
                                  "its selector, %s, is no member of a structure around it (or "
                                  "hidden by another member of that name), which CTF 1.8 cannot "
                                  "express",
                                  target->name);
    return field->is_optional ? label_optional(ctf2, field) : label_variant(ctf2, field);
}

bool fm_ctf2_link(struct ctf2 *ctf2, struct ctf2_field *field,
                  struct ctf2_field *const scopes[CTF2_SCOPES])
{
    if (field->location.at != NULL && !link_location(ctf2, field, scopes))
        return false;
    for (guint i = 0; i < field->parts->len; i++) {
        if (!fm_ctf2_link(ctf2, field->parts->pdata[i], scopes))
            return false;
    }
    return true;
}

void fm_ctf2_append_path(GString *to, const struct ctf2_field *field)
{
    static const char *const roots[CTF2_SCOPES] = {
        [CTF2_PACKET_HEADER] = "trace.packet.header",
        [CTF2_PACKET_CONTEXT] = "stream.packet.context",
        [CTF2_EVENT_HEADER] = "stream.event.header",
        [CTF2_COMMON_CONTEXT] = "stream.event.context",
        [CTF2_SPECIFIC_CONTEXT] = "event.context",
        [CTF2_PAYLOAD] = "event.fields",
    };
    if (field->parent == NULL) {
        g_string_append(to, roots[field->scope]);
        return;
    }
    fm_ctf2_append_path(to, field->parent);
    if (field->id != NULL)
        g_string_append_printf(to, ".%s", field->id);
}
