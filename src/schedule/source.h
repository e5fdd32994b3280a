/* SPDX-License-Identifier: Apache-2.0 */
/* The engine on a GLib main loop: background passes and ad hoc requests go on whenever nothing more
 * urgent is there.
 *
 *     GSource *source = fm_engine_source_new(engine);
 *     g_source_attach(source, NULL);
 *     ...
 *     g_source_destroy(source);
 *     g_source_unref(source);       both before fm_engine_free()
 *
 * A turn does steps for about 2 ms, at least one, and gives the loop back. The priority lies below
 * that of sockets, timers and ordinary idle work: a request of HTTP that has arrived is always
 * answered first. Without work, and while the engine is disabled, the source sleeps and costs
 * nothing; work is only ever added by callbacks of the same loop, after which the loop asks again,
 * so nobody has to wake it.
 *
 * The number of events in a chunk is fitted to the time that the hooks take, between
 * FM_CHUNK_MIN and what fm_engine_set_chunk() said last; computations with a step function get the
 * time that they may take (fm_computation.step). */
#pragma once

#include "schedule/schedule.h"

#define FM_ENGINE_TURN_US 2000
#define FM_CHUNK_MIN 64
/* Where the toolkit's viewers had it: after idle work that draws. */
#define FM_ENGINE_PRIORITY (G_PRIORITY_DEFAULT_IDLE + 21)

GSource *fm_engine_source_new(struct fm_engine *engine);
