/* SPDX-License-Identifier: Apache-2.0 */
/* Event types, and the header of a log, which declares them. */
#pragma once
#include "core/pool.h"

#define FM_EL_NUMBERS_END FM_EVENTLOG_EVENT_END
#define FM_EL_VARIABLE 0xFFFFu
extern uint16_t fm_el_sizes[FM_EL_NUMBERS_END]; /* size of the payload, or FM_EL_VARIABLE */
size_t fm_el_event_bytes(const unsigned char *event);
struct fm_el_type {
    uint16_t number, size;
    const char *text, *fields;
};
extern const struct fm_el_type fm_el_types[];
extern const unsigned fm_el_types_own; /* number of the library's types */
/* appends the entry of type number index, from etb to ete */
void fm_el_type_entry(struct fm_el_bytes *b, uint16_t index);
void fm_el_header(struct fm_el_bytes *b); /* appends the header, from hdrb to datb */
unsigned fm_el_types_count(void);         /* number of types in each header from now on */
/* Types that the program declares. close: returns how many are in the header that is made now;
 * later ones wait for open, when no destination has a header. */
unsigned fm_el_user_types_close(void);
void fm_el_user_types_open(void);
void fm_el_user_types_after_fork(void);
bool fm_el_user_type_is_usable(const struct fm_eventlog_event_type_ *type);
void fm_el_user_type(unsigned index, const char **ret_name, const char **ret_fields);
