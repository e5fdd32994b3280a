/* SPDX-License-Identifier: Apache-2.0 */
/* A value against the literal of a test. */
#include <string.h>

#include "trace/filter/filter_internal.h"

/* order: < 0, 0, > 0 of the value against the literal. */
bool fm_filter_holds(enum filter_operator op, int order)
{
    switch (op) {
    case OP_EQUAL:
        return order == 0;
    case OP_UNEQUAL:
        return order != 0;
    case OP_LESS:
        return order < 0;
    case OP_LESS_EQUAL:
        return order <= 0;
    case OP_GREATER:
        return order > 0;
    case OP_GREATER_EQUAL:
        return order >= 0;
    }
    return false;
}

static bool compare_real(const struct filter_test *test, long double value)
{
    long double literal = test->literal == LITERAL_UNSIGNED   ? (long double)test->number
                          : test->literal == LITERAL_NEGATIVE ? (long double)test->negative
                                                              : (long double)test->real;
    if (value != value)
        return test->op == OP_UNEQUAL;
    return fm_filter_holds(test->op, (value > literal) - (value < literal));
}

bool fm_filter_compare_unsigned(const struct filter_test *test, uint64_t value)
{
    if (test->literal == LITERAL_NEGATIVE)
        return fm_filter_holds(test->op, 1);
    if (test->literal == LITERAL_REAL)
        return compare_real(test, (long double)value);
    return fm_filter_holds(test->op, (value > test->number) - (value < test->number));
}

bool fm_filter_compare_signed(const struct filter_test *test, int64_t value)
{
    if (value >= 0)
        return fm_filter_compare_unsigned(test, (uint64_t)value);
    if (test->literal == LITERAL_UNSIGNED)
        return fm_filter_holds(test->op, -1);
    if (test->literal == LITERAL_REAL)
        return compare_real(test, (long double)value);
    return fm_filter_holds(test->op, (value > test->negative) - (value < test->negative));
}

/* FILTER_ANY stands for any text. */
static bool matches(const char *pattern, const char *text, size_t length)
{
    size_t at = 0, retry_at = 0;
    const char *retry = NULL;
    for (;;) {
        if (*pattern == FILTER_ANY) {
            retry = ++pattern;
            retry_at = at;
        } else if (at < length && *pattern == text[at]) {
            pattern++;
            at++;
        } else if (at == length && *pattern == '\0') {
            return true;
        } else if (retry != NULL && retry_at < length) {
            pattern = retry;
            at = ++retry_at;
        } else {
            return false;
        }
    }
}

bool fm_filter_compare_text(const struct filter_test *test, const char *text, size_t length)
{
    if (test->pattern)
        return matches(test->text, text, length) == (test->op == OP_EQUAL);
    size_t literal = strlen(test->text);
    int order = memcmp(text, test->text, MIN(length, literal));
    if (order == 0)
        order = (length > literal) - (length < literal);
    return fm_filter_holds(test->op, order);
}

bool fm_filter_compare_value(const struct filter_test *test, const struct fm_event_value *value)
{
    if (value->kind != FM_VALUE_TEXT && test->literal != LITERAL_NONE) {
        switch (value->kind) {
        case FM_VALUE_UNSIGNED:
        case FM_VALUE_ADDRESS:
            return fm_filter_compare_unsigned(test, value->number);
        case FM_VALUE_SIGNED:
            return fm_filter_compare_signed(test, (int64_t)value->number);
        case FM_VALUE_REAL:
            return compare_real(test, (long double)value->real);
        case FM_VALUE_TEXT:
            break;
        }
    }
    return value->text != NULL && fm_filter_compare_text(test, value->text, value->text_length);
}

void fm_filter_value_text(struct fm_filter_value *ret, const char *text)
{
    ret->kind = text == NULL ? FM_FILTER_IS_NOTHING : FM_FILTER_IS_TEXT;
    ret->text = text;
    ret->length = text == NULL ? 0 : (uint32_t)strlen(text);
}
