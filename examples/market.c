/* SPDX-License-Identifier: Apache-2.0 */
/* A small stock exchange, as an example of a program to record: traders in threads send orders,
 * written as text, to books of buyers and sellers kept in heaps; rules of the house are little
 * expressions, parsed once and evaluated for each order; at the end the trades are sorted and
 * summed up. Recursion, function pointers, qsort callbacks, longjmp, allocation, threads.
 *
 *   market [ROUNDS]      prints volume and turnover of each share: the same for any run */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 8, TRADERS = 4, ORDERS_A_ROUND = 2000 };

/* --- random numbers: one stream a trader, so that runs agree --- */

struct random {
    uint64_t state;
};

static uint32_t random_next(struct random *random)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 33);
}

static uint32_t random_below(struct random *random, uint32_t limit)
{
    return random_next(random) % limit;
}

/* --- rules: arithmetic on price and amount, as a tree of closures --- */

struct order {
    long price, amount;
    int share, trader;
    char side; /* 'b' or 's' */
};

struct rule {
    long (*apply)(const struct rule *, const struct order *);
    struct rule *left, *right;
    struct rule *made_before; /* by the same parser */
    long value;
};

static long rule_eval(const struct rule *rule, const struct order *order)
{
    return rule->apply(rule, order);
}
static long apply_number(const struct rule *rule, const struct order *order)
{
    (void)order;
    return rule->value;
}
static long apply_price(const struct rule *rule, const struct order *order)
{
    (void)rule;
    return order->price;
}
static long apply_amount(const struct rule *rule, const struct order *order)
{
    (void)rule;
    return order->amount;
}
static long apply_add(const struct rule *rule, const struct order *order)
{
    return rule_eval(rule->left, order) + rule_eval(rule->right, order);
}
static long apply_multiply(const struct rule *rule, const struct order *order)
{
    return rule_eval(rule->left, order) * rule_eval(rule->right, order);
}
static long apply_less(const struct rule *rule, const struct order *order)
{
    return rule_eval(rule->left, order) < rule_eval(rule->right, order);
}

struct parser {
    const char *at;
    struct rule *made; /* all of its rules, the last first */
    jmp_buf failed;
};

static struct rule *rule_new(struct parser *parser,
                             long (*apply)(const struct rule *, const struct order *),
                             struct rule *left, struct rule *right)
{
    struct rule *rule = calloc(1, sizeof *rule);
    if (rule == NULL)
        abort();
    rule->apply = apply;
    rule->left = left;
    rule->right = right;
    rule->made_before = parser->made;
    parser->made = rule;
    return rule;
}

static void rule_free(struct rule *rule)
{
    if (rule == NULL)
        return;
    rule_free(rule->left);
    rule_free(rule->right);
    free(rule);
}

static void drop_all_made(struct parser *parser)
{
    while (parser->made != NULL) {
        struct rule *rule = parser->made;
        parser->made = rule->made_before;
        free(rule);
    }
}

static struct rule *parse_comparison(struct parser *parser);

static struct rule *parse_atom(struct parser *parser)
{
    if (*parser->at == '(') {
        parser->at++;
        struct rule *rule = parse_comparison(parser);
        if (*parser->at++ != ')')
            longjmp(parser->failed, 1);
        return rule;
    }
    if (*parser->at == 'p' || *parser->at == 'n')
        return rule_new(parser, *parser->at++ == 'p' ? apply_price : apply_amount, NULL, NULL);
    char *end;
    long value = strtol(parser->at, &end, 10);
    if (end == parser->at)
        longjmp(parser->failed, 1);
    parser->at = end;
    struct rule *rule = rule_new(parser, apply_number, NULL, NULL);
    rule->value = value;
    return rule;
}

static struct rule *parse_product(struct parser *parser)
{
    struct rule *rule = parse_atom(parser);
    while (*parser->at == '*') {
        parser->at++;
        rule = rule_new(parser, apply_multiply, rule, parse_atom(parser));
    }
    return rule;
}

static struct rule *parse_sum(struct parser *parser)
{
    struct rule *rule = parse_product(parser);
    while (*parser->at == '+') {
        parser->at++;
        rule = rule_new(parser, apply_add, rule, parse_product(parser));
    }
    return rule;
}

static struct rule *parse_comparison(struct parser *parser)
{
    struct rule *rule = parse_sum(parser);
    while (*parser->at == '<') {
        parser->at++;
        rule = rule_new(parser, apply_less, rule, parse_sum(parser));
    }
    return rule;
}

/* NULL when the text is no rule. */
static struct rule *rule_parse(const char *text)
{
    struct parser parser = {.at = text};
    if (setjmp(parser.failed) != 0) {
        drop_all_made(&parser);
        return NULL;
    }
    struct rule *rule = parse_comparison(&parser);
    if (*parser.at != '\0')
        longjmp(parser.failed, 1);
    return rule;
}

/* --- books: two heaps a share, best offer on top --- */

typedef int better(const struct order *, const struct order *);

struct heap {
    struct order *orders;
    size_t count, room;
    better *better;
};

static int dearer(const struct order *a, const struct order *b)
{
    return a->price > b->price;
}
static int cheaper(const struct order *a, const struct order *b)
{
    return a->price < b->price;
}

static void swap_orders(struct order *a, struct order *b)
{
    struct order kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_up(struct heap *heap, size_t at)
{
    if (at == 0 || !heap->better(&heap->orders[at], &heap->orders[(at - 1) / 2]))
        return;
    swap_orders(&heap->orders[at], &heap->orders[(at - 1) / 2]);
    sift_up(heap, (at - 1) / 2);
}

static void sift_down(struct heap *heap, size_t at)
{
    size_t best = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
        if (heap->better(&heap->orders[child], &heap->orders[best]))
            best = child;
    if (best == at)
        return;
    swap_orders(&heap->orders[at], &heap->orders[best]);
    sift_down(heap, best);
}

static void heap_push(struct heap *heap, const struct order *order)
{
    if (heap->count == heap->room) {
        heap->room = heap->room == 0 ? 16 : heap->room * 2;
        heap->orders = realloc(heap->orders, heap->room * sizeof *heap->orders);
        if (heap->orders == NULL)
            abort();
    }
    heap->orders[heap->count] = *order;
    sift_up(heap, heap->count++);
}

static void heap_pop(struct heap *heap)
{
    heap->orders[0] = heap->orders[--heap->count];
    sift_down(heap, 0);
}

/* --- trading: each trader has an exchange of its own, summed up at the end --- */

struct trade {
    int share;
    long price, amount;
};

struct exchange {
    struct heap buyers[SHARES], sellers[SHARES];
    struct trade *trades;
    size_t trade_count, trade_room;
    struct rule *limit;
    long refused;
    struct random random;
    int trader, rounds;
};

static void note_trade(struct exchange *exchange, int share, long price, long amount)
{
    if (exchange->trade_count == exchange->trade_room) {
        exchange->trade_room = exchange->trade_room == 0 ? 64 : exchange->trade_room * 2;
        exchange->trades =
            realloc(exchange->trades, exchange->trade_room * sizeof *exchange->trades);
        if (exchange->trades == NULL)
            abort();
    }
    exchange->trades[exchange->trade_count++] = (struct trade){share, price, amount};
}

static void match(struct exchange *exchange, int share)
{
    struct heap *buyers = &exchange->buyers[share], *sellers = &exchange->sellers[share];
    while (buyers->count > 0 && sellers->count > 0 &&
           buyers->orders[0].price >= sellers->orders[0].price) {
        struct order *buyer = &buyers->orders[0], *seller = &sellers->orders[0];
        long amount = buyer->amount < seller->amount ? buyer->amount : seller->amount;
        note_trade(exchange, share, (buyer->price + seller->price) / 2, amount);
        buyer->amount -= amount;
        seller->amount -= amount;
        if (buyer->amount == 0)
            heap_pop(buyers);
        if (seller->amount == 0)
            heap_pop(sellers);
    }
}

static char *write_order(struct exchange *exchange)
{
    char *text = malloc(64);
    if (text == NULL)
        abort();
    uint32_t share = random_below(&exchange->random, SHARES);
    snprintf(text, 64, "%c %u %u %u", random_below(&exchange->random, 2) ? 'b' : 's', share,
             90 + share * 10 + random_below(&exchange->random, 20),
             1 + random_below(&exchange->random, 100));
    return text;
}

static int read_order(const char *text, struct order *ret)
{
    return sscanf(text, "%c %d %ld %ld", &ret->side, &ret->share, &ret->price, &ret->amount) == 4;
}

static void take_order(struct exchange *exchange, const char *text)
{
    struct order order = {.trader = exchange->trader};
    if (!read_order(text, &order) || !rule_eval(exchange->limit, &order)) {
        exchange->refused++;
        return;
    }
    heap_push(order.side == 'b' ? &exchange->buyers[order.share] : &exchange->sellers[order.share],
              &order);
    match(exchange, order.share);
}

static void *trade(void *argument)
{
    struct exchange *exchange = argument;
    for (int round = 0; round < exchange->rounds; round++) {
        for (int i = 0; i < ORDERS_A_ROUND; i++) {
            char *text = write_order(exchange);
            take_order(exchange, text);
            free(text);
        }
    }
    return NULL;
}

static int by_share_and_price(const void *a, const void *b)
{
    const struct trade *left = a, *right = b;
    if (left->share != right->share)
        return left->share - right->share;
    return left->price < right->price ? -1 : left->price > right->price;
}

static void report(struct exchange *exchanges)
{
    long volume[SHARES] = {0}, turnover[SHARES] = {0}, refused = 0;
    for (int i = 0; i < TRADERS; i++) {
        qsort(exchanges[i].trades, exchanges[i].trade_count, sizeof *exchanges[i].trades,
              by_share_and_price);
        for (size_t t = 0; t < exchanges[i].trade_count; t++) {
            const struct trade *one = &exchanges[i].trades[t];
            volume[one->share] += one->amount;
            turnover[one->share] += one->amount * one->price;
        }
        refused += exchanges[i].refused;
    }
    for (int share = 0; share < SHARES; share++)
        printf("share %d: volume %ld, turnover %ld\n", share, volume[share], turnover[share]);
    printf("refused: %ld orders\n", refused);
}

static void close_exchange(struct exchange *exchange)
{
    for (int share = 0; share < SHARES; share++) {
        free(exchange->buyers[share].orders);
        free(exchange->sellers[share].orders);
    }
    free(exchange->trades);
    rule_free(exchange->limit);
}

int main(int argc, char **argv)
{
    static struct exchange exchanges[TRADERS];
    pthread_t threads[TRADERS];
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    if (rule_parse("p*(n+") != NULL)
        return 1;
    for (int i = 0; i < TRADERS; i++) {
        exchanges[i] = (struct exchange){.random = {17u + (unsigned)i},
                                         .trader = i,
                                         .rounds = rounds,
                                         .limit = rule_parse("p*n+2*n<15000")};
        for (int share = 0; share < SHARES; share++) {
            exchanges[i].buyers[share].better = dearer;
            exchanges[i].sellers[share].better = cheaper;
        }
        pthread_create(&threads[i], NULL, trade, &exchanges[i]);
    }
    for (int i = 0; i < TRADERS; i++)
        pthread_join(threads[i], NULL);
    report(exchanges);
    for (int i = 0; i < TRADERS; i++)
        close_exchange(&exchanges[i]);
    return 0;
}
