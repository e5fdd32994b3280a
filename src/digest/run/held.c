/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/run/held.h"

#define NONE_OF_PHASE "No context had more live memory at the end of this phase than at its begin."
#define OF_PHASE "Each context has the growth of its live memory in this phase."

const struct fm_held_words *fm_held_words(const struct fm_profile *profile)
{
    static const struct fm_held_words words[2][2] = {
        {{.held = "never freed",
          .lead = "were never freed",
          .heading = "Never freed",
          .link = "Blocks that it never freed",
          .none = "Everything that was allocated was freed.",
          .all = "all of it freed",
          .further = "Whether the program could still reach them is not known."},
         {.held = "never freed",
          .lead = "of this phase were never freed",
          .heading = "Of this phase never freed",
          .link = "Blocks of this phase that it never freed",
          .none = NONE_OF_PHASE,
          .all = "no context had more live memory at the end than at the begin of the phase",
          .further = OF_PHASE}},
        {{.held = "still live at that moment",
          .lead = "were still live at that moment",
          .heading = "Still live at that moment",
          .link = "Blocks that were still live at that moment",
          .none = "Everything that had been allocated by then was freed.",
          .all = "all of it freed by then",
          .further = "The program went on, and may have freed them since."},
         {.held = "still live at that moment",
          .lead = "of this phase were still live at that moment",
          .heading = "Of this phase still live at that moment",
          .link = "Blocks of this phase that were still live at that moment",
          .none = NONE_OF_PHASE,
          .all = "no context had more live memory at that moment than at the begin of the phase",
          .further = OF_PHASE}},
    };
    const struct fm_extent *extent = &profile->run_info.extent;
    return &words[extent->unfinished][extent->later];
}
