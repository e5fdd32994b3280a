/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/run/held.h"

#define NONE_OF_PHASE "No context held more at the end of this phase than when it began."
#define OF_PHASE \
    "Of each context this is what it held more at the end of this phase than when it began."

const struct fm_held_words *fm_held_words(const struct fm_profile *profile)
{
    static const struct fm_held_words words[2][2] = {
        {{.held = "never given back",
          .lead = "were never given back",
          .heading = "Never given back",
          .link = "What it never gave back",
          .none = "All that was allocated was given back.",
          .all = "all of it given back",
          .further = "Whether the program could still reach them is not known."},
         {.held = "never given back",
          .lead = "of this phase were never given back",
          .heading = "Of this phase never given back",
          .link = "What of this phase it never gave back",
          .none = NONE_OF_PHASE,
          .all = "no context held more at the end than when the phase began",
          .further = OF_PHASE}},
        {{.held = "still held at that moment",
          .lead = "were still held at that moment",
          .heading = "Still held at that moment",
          .link = "What it still held at that moment",
          .none = "All that had been allocated by then was given back.",
          .all = "all of it given back by then",
          .further = "The program went on, and may have given them back since."},
         {.held = "still held at that moment",
          .lead = "of this phase were still held at that moment",
          .heading = "Of this phase still held at that moment",
          .link = "What of this phase it still held at that moment",
          .none = NONE_OF_PHASE,
          .all = "no context held more at that moment than when the phase began",
          .further = OF_PHASE}},
    };
    const struct fm_extent *extent = &profile->run_info.extent;
    return &words[extent->unfinished][extent->later];
}
