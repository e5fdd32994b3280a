/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exchange/nodes.h"

void fm_exchange_add_columns(struct fm_exchange_nodes *nodes);
/* tree_csd of all pds, and what there is of recursions. */
void fm_exchange_span(struct fm_exchange_nodes *nodes);
/* Leaves out the nodes of less than min_share. */
void fm_exchange_prune(struct fm_exchange_nodes *nodes, double min_share);
