/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the engine on a GLib main loop: background passes and ad hoc requests go on while nothing
 * more urgent is pending.
 *
 *     GSource *source = fm_engine_source_new(engine);
 *     g_source_attach(source, NULL);
 *     ...
 *     g_source_destroy(source);
 *     g_source_unref(source);       both before fm_engine_free()
 *
 * A turn does steps for about 2 ms, at least one, then returns to the loop. Its priority is
 * below that of sockets, timers and ordinary idle work, so an HTTP request that has arrived is
 * always answered first. Without work, and while the engine is disabled, the source sleeps. Only
 * callbacks of the same loop add work, and the loop checks the source after each, so no wake-up
 * is needed.
 *
 * The number of events in a chunk is adapted to the time that hooks take, between FM_CHUNK_MIN
 * and the last fm_engine_set_chunk(). Computations with a step function get a time budget
 * (fm_computation.step). */
#pragma once

#include "engine/engine.h"

#define FM_ENGINE_TURN_US 2000
#define FM_CHUNK_MIN 64
/* After idle work that redraws. */
#define FM_ENGINE_PRIORITY (G_PRIORITY_DEFAULT_IDLE + 21)

GSource *fm_engine_source_new(struct fm_engine *engine);
