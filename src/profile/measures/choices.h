/* SPDX-License-Identifier: Apache-2.0 */
/* Choices that addresses, analysis and pages share: groups of callers, kinds of cost, limits of
 * lists. Addresses have a word for each, in this order. */
#pragma once

enum fm_callers_group { FM_GROUP_CALL_SITE, FM_GROUP_PROC, FM_GROUP_MODULE, FM_GROUP_CLIQUE };

enum fm_cost_kind {
    FM_BY_CALLS,
    FM_BY_REDOS,
    FM_BY_TIME,
    FM_BY_CALLSEQS,
    FM_BY_ALLOCS,
    FM_BY_WORDS,
    FM_BY_FURTHER /* and a measure's number added: the kinds that a profile names itself; addresses
                     have none of them */
};

enum fm_limit_kind { FM_LIMIT_RANK, FM_LIMIT_PERCENT, FM_LIMIT_VALUE };
