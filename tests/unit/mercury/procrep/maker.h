/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies made by hand, goal by goal. */
#pragma once

#include "mercury/procrep/procrep.h"

struct maker;

struct maker *maker_new(void);
void maker_name(struct maker *maker, uint32_t var, const char *name);
void maker_head(struct maker *maker, uint32_t var, enum fm_inst before, enum fm_inst after);
/* Conjunction, disjunction, if-then-else, negation; ended by maker_close. */
void maker_open(struct maker *maker, enum fm_goal_kind kind, enum fm_detism detism);
void maker_switch(struct maker *maker, uint32_t var, bool can_fail, enum fm_detism detism);
void maker_scope(struct maker *maker, bool cut, enum fm_detism detism);
void maker_close(struct maker *maker);
/* The cases of the arm that comes next: "red/0 green/0". */
void maker_case(struct maker *maker, const char *functors);
/* args, bound: "1 2 3", "_" for none at a place of a partial unification. */
struct fm_goal *maker_atomic(struct maker *maker, enum fm_goal_kind kind, enum fm_detism detism,
                             uint32_t var, const char *name, const char *args, const char *bound);
void maker_call(struct maker *maker, enum fm_detism detism, const char *module, const char *name,
                const char *args, const char *bound);
/* The body; the caller frees it with fm_body_free(). Frees the maker. */
struct fm_body *maker_done(struct maker *maker, enum fm_detism detism);

/* A file with these procedures, all of one module, read again. *ret_bytes must outlive it. */
struct fm_procrep *maker_procrep(const char *module, const struct fm_proc_label *labels,
                                 struct fm_body *const *bodies, uint32_t count, unsigned version,
                                 GBytes **ret_bytes);
/* The procedure of every kind of goal: shop.pick/5-0. */
struct fm_body *maker_shop(void);
extern const struct fm_proc_label maker_shop_label;
