/* SPDX-License-Identifier: Apache-2.0 */
/* Remembered stacks. A walk goes outwards until it meets a frame of the last stack in the same
 * state. From there on the frames further out are compared, not walked: a step depends on the
 * state and on the words that it reads. So as long as each of these words is what it was, the
 * frames are the same. Where one differs, the walk goes on from the frame inside of it.
 *
 * bp is compared where it matters: it is that of some frame until one needs it that gets it
 * unchanged. A frame that was found in another way (a guess by searching, a signal's, one whose
 * address was loaded from memory) is walked again, and the last stack may be met again behind it.
 */
#include "stack.h"

/* The range that is readable without asking: from the stack pointer to the end of the thread's
 * stack. The data that libc keeps for a thread lies at the end of the stack that it makes, and the
 * mapping may go on behind it. */
static void bounds_of(const struct fm_thread *thread, uint64_t sp, uint64_t *low, uint64_t *high)
{
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    uint64_t self = (uint64_t)__builtin_thread_pointer();
    bool known = !stack->guessed && stack->low <= sp && sp < stack->high;
    *low = known ? sp : 0;
    *high = known ? stack->high : 0;
    if (known && sp < self && self < stack->high)
        *high = self;
}

static void begin(const struct fm_thread *thread, struct fm_walked_stack *stack,
                  const struct fm_walk_from *from, struct fm_unwind *walk)
{
    if (from->registers == NULL) {
        /* These functions begin by saving rbp. */
        const uint64_t *frame = (const uint64_t *)(from->cfa - FM_CFA_FROM_FRAME);
        bounds_of(thread, from->cfa, &stack->low, &stack->high);
        fm_unwind_begin_at(walk, frame[1], from->cfa, frame[0], stack->low, stack->high);
    } else {
        bounds_of(thread, from->registers->value[FM_UNWIND_RSP], &stack->low, &stack->high);
        fm_unwind_begin(walk, from->registers, stack->low, stack->high);
    }
}

static inline bool is_same(const struct fm_walked *frame, const struct fm_unwind *walk)
{
    return frame->sp == walk->sp && frame->ip == walk->ip &&
           (frame->flags & FM_WALKED_EXACT) == walk->exact &&
           ((frame->flags & FM_WALKED_NEEDS_BP) == 0 || frame->bp == walk->bp);
}

static inline uint64_t difference(const struct fm_walked_word *word)
{
    return *(const uint64_t *)word->slot ^ word->value;
}

/* As below for words that can be read without asking. Most are as they were, so four are looked at
 * before each branch. */
static inline uint32_t words_changed_within(const struct fm_walked_word *words, uint32_t count,
                                            uint32_t end)
{
    const struct fm_walked_word *first = words + end, *at = words + count;
    while (at - first >= 4 && (difference(&at[-1]) | difference(&at[-2]) | difference(&at[-3]) |
                               difference(&at[-4])) == 0)
        at -= 4;
    while (at > first && difference(&at[-1]) == 0)
        at--;
    return (uint32_t)(at - words);
}

/* How many of the outermost words of the last stack are not known to be what they were: the first
 * that differs, from the inside, and those outside of it. */
static uint32_t words_changed(const struct fm_walked_stack *stack, uint32_t frames,
                              struct fm_unwind *walk)
{
    const struct fm_walked_word *words = stack->words;
    const struct fm_walked *inner = frames > 0 ? &stack->frames[frames - 1] : NULL;
    uint32_t count = inner != NULL ? inner->words : stack->end_words;
    if (inner == NULL ||
        ((inner->flags & FM_WALKED_WITHIN) != 0 && stack->last_high == stack->high)) {
        count = words_changed_within(words, count, stack->end_words);
        if (count > stack->end_words)
            return count;
    }
    for (uint64_t word; count > 0; count--)
        if (!fm_unwind_word(&walk->memory, words[count - 1].slot, &word) ||
            word != words[count - 1].value)
            break;
    return count;
}

/* Number of frames of which words are among the outermost ones. */
static uint32_t frames_of_words(const struct fm_walked_stack *stack, uint32_t frames,
                                uint32_t words)
{
    uint32_t low = 0; /* none of the frames inside of it has */
    while (low < frames) {
        uint32_t middle = low + (frames - low) / 2;
        if (stack->frames[middle].words < words)
            low = middle + 1;
        else
            frames = middle;
    }
    return words > stack->end_words ? low + 1 : 0;
}

/* Flags of the frame that the walk's last step led to. */
static inline uint32_t link_of(const struct fm_unwind *walk)
{
    bool linked = walk->by_slots && walk->ip_slot != 0;
    return (linked ? FM_WALKED_LINKED : 0u) | (walk->bp_lost ? FM_WALKED_LOST : 0u) |
           (walk->guessed ? FM_WALKED_GUESSED : 0u);
}

static inline void note(struct fm_walked_stack *stack, const struct fm_unwind *walk)
{
    struct fm_walked *frame = &stack->fresh[stack->fresh_count++];
    frame->ip = walk->ip;
    frame->sp = walk->sp;
    frame->bp = walk->bp;
    frame->bp_slot = walk->bp_slot;
    frame->flags = (walk->exact ? FM_WALKED_EXACT : 0u) | link_of(walk);
}

/* Frames from `at` outwards to `last` are still there, but who called that one is not known. What
 * bp is there was not compared where it did not matter: it may matter now. */
static bool take_over(struct fm_walked_stack *stack, struct fm_unwind *walk, uint32_t at,
                      uint32_t last)
{
    uint64_t bp = walk->bp;
    if (at == last)
        return true;
    if (stack->fresh_count + (at - last) >= FM_UNWOUND_FRAMES_MAX)
        return false;
    stack->fresh[stack->fresh_count - 1].flags |= stack->frames[at].flags & FM_WALKED_BY_BP;
    while (at-- > last) {
        const struct fm_walked *frame = &stack->frames[at];
        if (frame->bp_slot != 0 && !fm_unwind_word(&walk->memory, frame->bp_slot, &bp))
            return false;
        bp = (frame->flags & FM_WALKED_LOST) != 0 ? 0 : bp;
        stack->fresh[stack->fresh_count] = *frame;
        stack->fresh[stack->fresh_count++].bp = bp;
    }
    const struct fm_walked *frame = &stack->frames[last];
    fm_unwind_begin_at(walk, frame->ip, frame->sp, bp, walk->memory.low, walk->memory.high);
    walk->exact = (frame->flags & FM_WALKED_EXACT) != 0;
    return true;
}

/* Whether the stack is the last one from here on; else goes on, with the walk at the outermost
 * frame that is still there. The walk's own frame is noted in any case, but when all is the same.
 */
static inline bool is_known(struct fm_walked_stack *stack, struct fm_unwind *walk, uint32_t *at)
{
    while (*at > 0 && stack->frames[*at - 1].sp < walk->sp)
        --*at;
    if (*at == 0 || !is_same(&stack->frames[*at - 1], walk)) {
        note(stack, walk);
        return false;
    }
    uint32_t met = *at - 1, changed = words_changed(stack, met, walk);
    if (changed == 0) {
        /* another frame may have called */
        struct fm_walked *frame = &stack->frames[met];
        frame->bp = walk->bp;
        frame->bp_slot = walk->bp_slot;
        frame->flags =
            (frame->flags & ~(uint32_t)(FM_WALKED_LINKED | FM_WALKED_LOST | FM_WALKED_GUESSED)) |
            link_of(walk);
        return true;
    }
    note(stack, walk);
    uint32_t last = frames_of_words(stack, met, changed);
    *at = last;
    if (!take_over(stack, walk, met, last))
        stack->fresh_count = FM_UNWOUND_FRAMES_MAX;
    return false;
}

static enum fm_walk_end end_of(const struct fm_unwind *walk, enum fm_unwind_result result)
{
    if (result != FM_UNWIND_END)
        return FM_WALK_CUT;
    if (walk->ip == 0 && walk->by_slots)
        return FM_WALK_BY_WORD;
    return walk->by_slots ? FM_WALK_BY_RULE : FM_WALK_OTHERWISE;
}

/* Goes on over frames that are left in the usual way, by rules that are known, and that were not
 * there before. Stops in front of others. */
static inline __attribute__((always_inline)) void go_quickly(struct fm_walked_stack *stack,
                                                             struct fm_unwind *walk, uint32_t *at)
{
    const uint64_t low = walk->memory.low, size = walk->memory.high - low;
    const struct fm_walked *before = &stack->frames[*at];
    struct fm_walked *const first = &stack->fresh[stack->fresh_count], *fresh = first;
    const struct fm_walked *const end = &stack->fresh[FM_UNWOUND_FRAMES_MAX - *at];
    uint64_t ip = walk->ip, sp = walk->sp, bp = walk->bp, bp_slot = walk->bp_slot;
    uint32_t flags = link_of(walk), by_bp = 0;
    while (fresh + 1 < end) {
        while (before > stack->frames && before[-1].sp < sp)
            before--;
        if (before > stack->frames && before[-1].sp == sp && before[-1].ip == ip)
            break;
        fm_rule rule = fm_unwind_rule_known(ip - 1);
        if (!fm_rule_is_usual(rule))
            break;
        by_bp = fm_rule_register(rule) == FM_UNWIND_RBP ? FM_WALKED_BY_BP : 0;
        uint64_t cfa = (by_bp != 0 ? bp : sp) + (uint64_t)fm_rule_offset(rule), slot = 0;
        uint64_t caller_bp = bp;
        if (cfa < sp + 8 || cfa % 8 != 0 || cfa - 8 - low >= size)
            break;
        uint64_t caller_ip = *(const uint64_t *)(cfa - 8);
        if (caller_ip == 0)
            break;
        if (fm_rule_bp_of(rule) == FM_RULE_BP_AT_CFA) {
            slot = cfa + (uint64_t)fm_rule_bp_offset(rule);
            if (slot % 8 != 0 || slot - low >= size)
                break;
            caller_bp = *(const uint64_t *)slot;
        }
        *fresh++ = (struct fm_walked){
            .ip = ip, .sp = sp, .bp = bp, .bp_slot = bp_slot, .flags = flags | by_bp};
        ip = caller_ip;
        sp = cfa;
        bp = caller_bp;
        bp_slot = slot;
        flags = FM_WALKED_LINKED;
    }
    *at = (uint32_t)(before - stack->frames);
    if (fresh == first)
        return;
    stack->fresh_count += (uint32_t)(fresh - first);
    walk->ip = ip;
    walk->sp = sp;
    walk->bp = bp;
    walk->ip_slot = sp - 8;
    walk->bp_slot = bp_slot;
    walk->by_bp = (fresh[-1].flags & FM_WALKED_BY_BP) != 0;
    walk->by_slots = true;
    walk->guessed = walk->bp_lost = false;
    if (walk->since != FM_UNWIND_SINCE_LOST)
        walk->since += (uint32_t)(fresh - first);
}

/* Goes outwards; false: the stack is cut. */
static bool go(struct fm_walked_stack *stack, struct fm_unwind *walk)
{
    enum fm_unwind_result result = FM_UNWIND_FRAME;
    uint32_t at = stack->remembered;
    stack->fresh_count = 0;
    while (result == FM_UNWIND_FRAME && stack->fresh_count + at < FM_UNWOUND_FRAMES_MAX) {
        if (!walk->exact)
            go_quickly(stack, walk, &at);
        if (is_known(stack, walk, &at)) {
            stack->kept = at;
            return true;
        }
        if (stack->fresh_count == FM_UNWOUND_FRAMES_MAX)
            break;
        struct fm_walked *frame = &stack->fresh[stack->fresh_count - 1];
        frame->flags &= ~(uint32_t)FM_WALKED_BY_BP;
        result = fm_unwind_step(walk);
        if (walk->by_bp || !walk->by_slots)
            frame->flags |= FM_WALKED_BY_BP;
    }
    stack->kept = 0;
    stack->end = end_of(walk, result);
    stack->end_slot = walk->ip_slot;
    return stack->end != FM_WALK_CUT;
}

void fm_walked_walk(struct fm_thread *thread, struct fm_walked_stack *stack,
                    const struct fm_walk_from *from)
{
    struct fm_unwind walk;
    begin(thread, stack, from, &walk);
    if (!go(stack, &walk) && stack->remembered != 0) {
        /* It may need registers that are known of the innermost frame alone. */
        stack->remembered = 0;
        begin(thread, stack, from, &walk);
        go(stack, &walk);
    }
}

const uint64_t fm_walked_never = 1;

struct fm_walked_keep fm_walked_keep_begin(struct fm_walked_stack *stack)
{
    struct fm_walked_keep keep = {stack->frames, stack->words, FM_WALKED_WITHIN, 0, false};
    uint32_t count = stack->kept;
    if (count == 0) {
        /* The outermost one's step found the end, which does not give bp to anybody. */
        stack->end_words = stack->end != FM_WALK_BY_RULE;
        stack->words[0].value = 0;
        stack->words[0].slot =
            stack->end == FM_WALK_BY_WORD ? stack->end_slot : (uint64_t)&fm_walked_never;
        keep.word += stack->end_words;
        return keep;
    }
    /* Another frame may have called the innermost one that is kept. */
    keep.frame += count - 1;
    keep.word += count == 1 ? stack->end_words : keep.frame[-1].words;
    keep.outer_flags = count == 1 ? FM_WALKED_WITHIN : keep.frame[-1].flags;
    keep.guesses = count == 1 ? 0 : keep.frame[-1].guesses;
    fm_walked_add_words(stack, &keep);
    return keep;
}

void fm_walked_keep_end(struct fm_walked_stack *stack, const struct fm_walked_keep *keep)
{
    uint32_t count = (uint32_t)(keep->frame - stack->frames);
    stack->remembered = stack->end != FM_WALK_CUT ? count : 0;
    stack->last_high = stack->high;
    stack->guesses = keep->guesses;
}
