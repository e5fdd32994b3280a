/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/goal_path.h"

#include <string.h>

static bool take_number(const char **at, uint32_t *ret)
{
    const char *digit = *at;
    uint32_t value = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint32_t)(*digit - '0'), &value))
            return false;
    }
    if (digit == *at || value == 0)
        return false;
    *at = digit;
    *ret = value;
    return true;
}

static bool take_functors(const char **at, uint32_t *ret)
{
    if (*(*at)++ != '-')
        return false;
    if (strncmp(*at, "na", 2) != 0)
        return take_number(at, ret);
    *at += 2;
    return true;
}

bool fm_goal_path_next(const char **path, struct fm_goal_step *ret)
{
    static const char letters[] = "cds?te~q!=rao"; /* in the order of enum fm_goal_step_kind */
    if (**path == '\0')
        return false;
    const char *letter = **path == '!' ? NULL : strchr(letters, **path);
    if (!letter)
        return false;
    struct fm_goal_step step = {.kind = (enum fm_goal_step_kind)(letter - letters)};
    const char *at = *path + 1;
    switch (step.kind) {
    case FM_STEP_CONJ:
    case FM_STEP_DISJ:
    case FM_STEP_OR_ELSE:
        if (!take_number(&at, &step.number))
            return false;
        break;
    case FM_STEP_SWITCH:
        if (!take_number(&at, &step.number) || !take_functors(&at, &step.functors))
            return false;
        break;
    case FM_STEP_SCOPE:
        if (*at == '!') {
            step.kind = FM_STEP_SCOPE_CUT;
            at++;
        }
        break;
    default:
        break;
    }
    if (*at != ';')
        return false;
    *path = at + 1;
    *ret = step;
    return true;
}

bool fm_goal_path_is_valid(const char *path)
{
    struct fm_goal_step step;
    while (fm_goal_path_next(&path, &step))
        ;
    return *path == '\0';
}
