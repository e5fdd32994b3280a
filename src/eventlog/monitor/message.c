/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "eventlog/monitor/cbor.h"
#include "eventlog/monitor/monitor.h"

/* Indices of the message forms, in the order of the protocol. */
enum { MESSAGE_SERVICE, MESSAGE_HEADER, MESSAGE_EVENT, MESSAGE_STATE };
enum { HEADER_LENGTH, HEADER_TYPE };
enum { EVENT_BLOCK, EVENT_SINGLE };
enum { BLOCK_HEAD, BLOCK_PART };

static void begin(GByteArray *out, uint64_t items, uint64_t form)
{
    fm_cbor_head(out, FM_CBOR_ARRAY, items);
    fm_cbor_head(out, FM_CBOR_UNSIGNED, form);
}

static void encode_partial(GByteArray *out, const struct fm_monitor_message *message)
{
    switch (message->form) {
    case FM_MONITOR_FULL:
        begin(out, 2, FM_MONITOR_FULL);
        fm_cbor_string(out, FM_CBOR_BYTES, message->bytes, message->length);
        break;
    case FM_MONITOR_FIRST:
        /* A nested record: the index of its only form, then its fields. */
        begin(out, 2, FM_MONITOR_FIRST);
        begin(out, 3, 0);
        fm_cbor_head(out, FM_CBOR_UNSIGNED, message->message_id);
        fm_cbor_head(out, FM_CBOR_UNSIGNED, message->number);
        break;
    case FM_MONITOR_PIECE:
        begin(out, 4, FM_MONITOR_PIECE);
        fm_cbor_head(out, FM_CBOR_UNSIGNED, message->message_id);
        fm_cbor_head(out, FM_CBOR_UNSIGNED, message->number);
        fm_cbor_string(out, FM_CBOR_BYTES, message->bytes, message->length);
        break;
    }
}

static void encode_block_head(GByteArray *out, const struct fm_monitor_block *block)
{
    begin(out, 6, 0);
    fm_cbor_head(out, FM_CBOR_UNSIGNED, block->id);
    fm_cbor_head(out, FM_CBOR_UNSIGNED, block->begin_ns);
    fm_cbor_head(out, FM_CBOR_UNSIGNED, block->end_ns);
    fm_cbor_head(out, FM_CBOR_UNSIGNED, block->capability);
    fm_cbor_head(out, FM_CBOR_UNSIGNED, block->count);
}

void fm_monitor_encode(GByteArray *out, const struct fm_monitor_message *message)
{
    switch (message->kind) {
    case FM_MONITOR_SERVICE:
        begin(out, 2, MESSAGE_SERVICE);
        begin(out, 2, 0);
        fm_cbor_bool(out, message->pause);
        break;
    case FM_MONITOR_HEADER_LENGTH:
        begin(out, 2, MESSAGE_HEADER);
        begin(out, 2, HEADER_LENGTH);
        fm_cbor_head(out, FM_CBOR_UNSIGNED, message->number);
        break;
    case FM_MONITOR_HEADER_TYPE:
        begin(out, 2, MESSAGE_HEADER);
        begin(out, 2, HEADER_TYPE);
        fm_cbor_string(out, FM_CBOR_BYTES, message->bytes, message->length);
        break;
    case FM_MONITOR_BLOCK_HEAD:
        begin(out, 2, MESSAGE_EVENT);
        begin(out, 2, EVENT_BLOCK);
        begin(out, 2, BLOCK_HEAD);
        encode_block_head(out, &message->block);
        break;
    case FM_MONITOR_BLOCK_PART:
        begin(out, 2, MESSAGE_EVENT);
        begin(out, 2, EVENT_BLOCK);
        begin(out, 3, BLOCK_PART);
        fm_cbor_head(out, FM_CBOR_UNSIGNED, message->block_id);
        encode_partial(out, message);
        break;
    case FM_MONITOR_EVENT:
        begin(out, 2, MESSAGE_EVENT);
        begin(out, 2, EVENT_SINGLE);
        encode_partial(out, message);
        break;
    case FM_MONITOR_STATE:
        begin(out, 2, MESSAGE_STATE);
        encode_partial(out, message);
        break;
    }
}

/* Reads the index of a form; the list stays open for its fields. */
static uint64_t take_form(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    uint64_t form = 0;
    if (!fm_cbor_take_list(cbor, FM_CBOR_ARRAY, list) || !fm_cbor_more(cbor, list) ||
        !fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, &form))
        cbor->wrong = true;
    return form;
}

static bool take_number(struct fm_cbor *cbor, struct fm_cbor_list *list, uint64_t *ret)
{
    if (!fm_cbor_more(cbor, list))
        cbor->wrong = true;
    return fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, ret);
}

static bool take_bytes(struct fm_cbor *cbor, struct fm_cbor_list *list,
                       struct fm_monitor_message *ret)
{
    if (!fm_cbor_more(cbor, list))
        cbor->wrong = true;
    return fm_cbor_take_string(cbor, FM_CBOR_BYTES, &ret->bytes, &ret->length);
}

static void take_end(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    if (fm_cbor_more(cbor, list))
        cbor->wrong = true;
}

static void take_partial(struct fm_cbor *cbor, struct fm_cbor_list *outer,
                         struct fm_monitor_message *ret)
{
    struct fm_cbor_list list, inner;
    if (!fm_cbor_more(cbor, outer))
        cbor->wrong = true;
    uint64_t form = take_form(cbor, &list);
    if (form == FM_MONITOR_FULL) {
        take_bytes(cbor, &list, ret);
    } else if (form == FM_MONITOR_FIRST) {
        if (!fm_cbor_more(cbor, &list) || take_form(cbor, &inner) != 0)
            cbor->wrong = true;
        take_number(cbor, &inner, &ret->message_id);
        take_number(cbor, &inner, &ret->number);
        take_end(cbor, &inner);
    } else if (form == FM_MONITOR_PIECE) {
        take_number(cbor, &list, &ret->message_id);
        take_number(cbor, &list, &ret->number);
        take_bytes(cbor, &list, ret);
    } else {
        cbor->wrong = true;
    }
    ret->form = (enum fm_monitor_form)MIN(form, FM_MONITOR_PIECE);
    take_end(cbor, &list);
}

static void take_block_head(struct fm_cbor *cbor, struct fm_cbor_list *outer,
                            struct fm_monitor_block *ret)
{
    struct fm_cbor_list list;
    uint64_t capability = 0, count = 0;
    if (!fm_cbor_more(cbor, outer) || take_form(cbor, &list) != 0)
        cbor->wrong = true;
    take_number(cbor, &list, &ret->id);
    take_number(cbor, &list, &ret->begin_ns);
    take_number(cbor, &list, &ret->end_ns);
    take_number(cbor, &list, &capability);
    take_number(cbor, &list, &count);
    take_end(cbor, &list);
    /* A log can name at most 65,535 capabilities, 0xFFFF being none. */
    if (capability > 65535 || count > UINT32_MAX)
        cbor->wrong = true;
    ret->capability = (uint32_t)capability;
    ret->count = (uint32_t)count;
}

static void take_event_message(struct fm_cbor *cbor, struct fm_cbor_list *outer,
                               struct fm_monitor_message *ret)
{
    struct fm_cbor_list list, block;
    if (!fm_cbor_more(cbor, outer))
        cbor->wrong = true;
    uint64_t form = take_form(cbor, &list);
    if (form == EVENT_SINGLE) {
        ret->kind = FM_MONITOR_EVENT;
        take_partial(cbor, &list, ret);
    } else if (form == EVENT_BLOCK && fm_cbor_more(cbor, &list)) {
        uint64_t what = take_form(cbor, &block);
        ret->kind = what == BLOCK_HEAD ? FM_MONITOR_BLOCK_HEAD : FM_MONITOR_BLOCK_PART;
        if (what == BLOCK_HEAD) {
            take_block_head(cbor, &block, &ret->block);
        } else if (what == BLOCK_PART) {
            take_number(cbor, &block, &ret->block_id);
            take_partial(cbor, &block, ret);
        } else {
            cbor->wrong = true;
        }
        take_end(cbor, &block);
    } else {
        cbor->wrong = true;
    }
    take_end(cbor, &list);
}

static void take_service_or_header(struct fm_cbor *cbor, struct fm_cbor_list *outer, bool header,
                                   struct fm_monitor_message *ret)
{
    struct fm_cbor_list list;
    if (!fm_cbor_more(cbor, outer))
        cbor->wrong = true;
    uint64_t form = take_form(cbor, &list);
    if (!header) {
        ret->kind = FM_MONITOR_SERVICE;
        if (form != 0 || !fm_cbor_more(cbor, &list))
            cbor->wrong = true;
        fm_cbor_take_bool(cbor, &ret->pause);
    } else if (form == HEADER_LENGTH) {
        ret->kind = FM_MONITOR_HEADER_LENGTH;
        take_number(cbor, &list, &ret->number);
    } else if (form == HEADER_TYPE) {
        ret->kind = FM_MONITOR_HEADER_TYPE;
        take_bytes(cbor, &list, ret);
    } else {
        cbor->wrong = true;
    }
    take_end(cbor, &list);
}

bool fm_monitor_decode(const uint8_t *bytes, size_t length, struct fm_monitor_message *ret,
                       GError **error)
{
    const uint8_t *begun = length == 0 ? (const uint8_t *)"" : bytes; /* may be NULL */
    struct fm_cbor cbor = {begun, begun + length, false};
    struct fm_cbor_list list;
    *ret = (struct fm_monitor_message){0};
    uint64_t form = take_form(&cbor, &list);
    if (form == MESSAGE_SERVICE || form == MESSAGE_HEADER) {
        take_service_or_header(&cbor, &list, form == MESSAGE_HEADER, ret);
    } else if (form == MESSAGE_EVENT) {
        take_event_message(&cbor, &list, ret);
    } else if (form == MESSAGE_STATE) {
        ret->kind = FM_MONITOR_STATE;
        take_partial(&cbor, &list, ret);
    } else {
        cbor.wrong = true;
    }
    take_end(&cbor, &list);
    if (!cbor.wrong && cbor.at == cbor.end)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "offset %td of a message of %zu bytes: not a message of the monitor",
                cbor.at - begun, length);
    return false;
}
