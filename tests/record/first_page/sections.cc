// SPDX-License-Identifier: Apache-2.0
// A program whose first page has every section, each with more rows than are shown, and long names.
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#define OWN __attribute__((noinline))

namespace measured_application::numerical_components
{

template <class Key, class Value, int Variant> struct ComputationOfManyThings {
    static volatile unsigned long sum;
    static std::map<Key, std::vector<Value>> *kept;

    OWN static void evaluate_in_inner_loop(unsigned long turns)
    {
        for (unsigned long i = 0; i < turns; i++)
            sum = sum + i * Variant;
    }
    OWN static void descend_into_recursion(int depth)
    {
        evaluate_in_inner_loop(Variant == 2 ? 200000 : 20000); // one recursion stands out
        if (depth > 0)
            descend_into_recursion(depth - 1);
        sum = sum + 1;
    }
    OWN static void compute_first_alternative()
    {
        evaluate_in_inner_loop(100000);
    }
    OWN static void compute_second_alternative()
    {
        evaluate_in_inner_loop(100000);
    }
    OWN static void keep_blocks_for_ever()
    {
        for (int i = 0; i < 2000; i++) {
            void *volatile block = std::malloc(100);
            sum = sum + reinterpret_cast<unsigned long>(block);
        }
    }
    OWN static void wait_for_a_moment()
    {
        usleep(1000);
    }
};

template <class Key, class Value, int Variant>
volatile unsigned long ComputationOfManyThings<Key, Value, Variant>::sum;

template <int Variant>
using Part = ComputationOfManyThings<std::string, std::vector<std::map<int, std::string>>, Variant>;

template <int Variant> OWN void begin_part()
{
    Part<Variant>::keep_blocks_for_ever();
    if (Variant <= 5)
        Part<Variant>::wait_for_a_moment();
}

template <int Variant> OWN void work_on_part()
{
    Part<Variant>::compute_first_alternative();
    Part<Variant>::compute_second_alternative();
    Part<Variant>::descend_into_recursion(5);
}

template <int... Variants> OWN void run_all_parts()
{
    (begin_part<Variants>(), ...);
    while (clock() < 2 * CLOCKS_PER_SEC)
        (work_on_part<Variants>(), ...);
}

} // namespace measured_application::numerical_components

int main()
{
    measured_application::numerical_components::run_all_parts<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                                              12>();
    return 0;
}
