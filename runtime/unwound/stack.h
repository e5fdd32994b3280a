/* SPDX-License-Identifier: Apache-2.0 */
/* A stack that was walked, and its context: shared by ticks, which walk each stack whole, and by
 * events (allocations, waits), which walk what is new of it. */
#pragma once

#include "../unwind/rules.h"
#include "../unwind/unwind.h"
#include "unwound.h"

#define FM_UNWOUND_FRAMES_MAX 4096u

enum fm_walked_flags {
    FM_WALKED_EXACT = 1,  /* ip was interrupted */
    FM_WALKED_OWN = 2,    /* a function of ours in front of libc's: it has no context */
    FM_WALKED_LINKED = 4, /* the step that led here follows from the frame inside of this one, from
                             ip's word, which lies below sp, and the word at bp_slot */
    FM_WALKED_LOST = 8,   /* that step has lost bp */
    FM_WALKED_BY_BP = 16, /* the step from here depends on bp */
    /* as above, or one further out does, which gets it unchanged; then its word is compared */
    FM_WALKED_NEEDS_BP = 32,
    FM_WALKED_WITHIN =
        64, /* the words of this frame and of those outside lie on the thread's stack */
    FM_WALKED_GUESSED = 128 /* that step was a guess */
};

/* A frame as a walk met it. */
struct fm_walked {
    uint64_t ip, sp, bp;
    uint64_t bp_slot; /* address that the step to this frame read bp from; 0: none */
    uint32_t flags;
    uint32_t top;     /* number of contexts from the outermost frame to this one */
    uint32_t words;   /* number of words of the last stack that show this frame and those outside */
    uint32_t guesses; /* number of guesses that led to this frame and those outside */
};

/* A word that was read, and what it was. */
struct fm_walked_word {
    uint64_t slot, value;
};

enum fm_walk_end {
    FM_WALK_CUT,
    FM_WALK_BY_RULE, /* there is no caller here, whatever the stack has */
    FM_WALK_BY_WORD, /* the return address is 0 */
    FM_WALK_OTHERWISE
};

struct fm_walked_stack {
    enum fm_walk_end end;
    uint64_t end_slot;   /* FM_WALK_BY_WORD: where it was read */
    uint64_t low, high;  /* bounds that this walk could read without asking */
    uint64_t last_high;  /* as above, of the last stack */
    uint32_t kept;       /* frames of the last stack that are this one's, too */
    uint32_t remembered; /* number of frames of the last stack */
    uint32_t end_words;  /* number of words that show that it ended there: 0 or 1 */
    uint32_t fresh_count;
    uint32_t guesses;                               /* number of guesses that led to its frames */
    struct fm_walked frames[FM_UNWOUND_FRAMES_MAX]; /* the last stack's, outermost first */
    /* outermost first, that of the end before them; of a frame ip's, then bp's where it matters */
    struct fm_walked_word words[2 * FM_UNWOUND_FRAMES_MAX + 1];
    struct fm_walked fresh[FM_UNWOUND_FRAMES_MAX]; /* met by this walk, innermost first */
    /* The contexts, outermost first; the guard before them. */
    struct fm_rec_frame contexts[FM_UNWOUND_FRAMES_MAX + 2];
};

/* The start of a walk: registers, or the frame that called one of ours with that CFA. */
struct fm_walk_from {
    const struct fm_unwind_registers *registers; /* NULL: */
    uint64_t cfa;
    bool exact;
};

/* remembered.c: walks the stack until it meets a frame from which on all is as it was. */
void fm_walked_walk(struct fm_thread *thread, struct fm_walked_stack *stack,
                    const struct fm_walk_from *from);
/* How the new frames become the last stack's, outermost first: between begin and end. */
struct fm_walked_keep {
    struct fm_walked *frame;     /* the next one's place */
    struct fm_walked_word *word; /* as above for its words */
    uint32_t outer_flags;        /* those of its caller's frame */
    uint32_t guesses;
    bool passes_bp; /* that one's bp matters, and its callee may have left it alone */
};
struct fm_walked_keep fm_walked_keep_begin(struct fm_walked_stack *stack);
void fm_walked_keep_end(struct fm_walked_stack *stack, const struct fm_walked_keep *keep);

extern const uint64_t fm_walked_never FM_HIDDEN; /* a word that is never what it was */

/* Stores the words of keep->frame. */
static inline __attribute__((always_inline)) void
fm_walked_add_words(const struct fm_walked_stack *stack, struct fm_walked_keep *keep)
{
    struct fm_walked *frame = keep->frame;
    uint32_t flags = frame->flags & ~(uint32_t)FM_WALKED_WITHIN;
    uint32_t within = keep->outer_flags & FM_WALKED_WITHIN;
    uint64_t low = stack->low, size = stack->high - low;
    if (FM_LIKELY((flags & FM_WALKED_LINKED) != 0)) {
        within = frame->sp - 8 - low < size ? within : 0;
        *keep->word++ = (struct fm_walked_word){frame->sp - 8, frame->ip};
        if ((flags & FM_WALKED_NEEDS_BP) != 0 && frame->bp_slot != 0) {
            within = frame->bp_slot - low < size ? within : 0;
            *keep->word++ = (struct fm_walked_word){frame->bp_slot, frame->bp};
        }
    } else {
        *keep->word++ = (struct fm_walked_word){(uint64_t)&fm_walked_never, 0};
    }
    frame->flags = flags | within;
    frame->words = (uint32_t)(keep->word - stack->words);
    keep->guesses += (flags & FM_WALKED_GUESSED) != 0;
    frame->guesses = keep->guesses;
    keep->outer_flags = flags | within;
    keep->passes_bp = (flags & FM_WALKED_NEEDS_BP) != 0 &&
                      (frame->bp_slot == 0 || (flags & FM_WALKED_LINKED) == 0);
    keep->frame++;
}

/* A new frame, inside of those that are there. */
static inline __attribute__((always_inline)) void fm_walked_add(const struct fm_walked_stack *stack,
                                                                struct fm_walked_keep *keep,
                                                                const struct fm_walked *from,
                                                                uint32_t top)
{
    struct fm_walked *frame = keep->frame;
    uint32_t flags = from->flags & ~(uint32_t)FM_WALKED_NEEDS_BP;
    if ((flags & FM_WALKED_BY_BP) != 0 || keep->passes_bp)
        flags |= FM_WALKED_NEEDS_BP;
    frame->ip = from->ip;
    frame->sp = from->sp;
    frame->bp = from->bp;
    frame->bp_slot = from->bp_slot;
    frame->flags = flags;
    frame->top = top;
    fm_walked_add_words(stack, keep);
}
