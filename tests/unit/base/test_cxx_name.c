/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/cxx_name.h"

#include <glib.h>

static void check(const char *name, const char *expected)
{
    g_autofree char *found = fm_cxx_name_shorten(name);
    g_assert_cmpstr(found, ==, expected);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void test_defaults(void)
{
    check("std::vector<int, std::allocator<int> >::push_back(int const&)",
          "std::vector<int>::push_back(int const&)");
    check(STRING "::size() const", "std::string::size() const");
    check("f(std::basic_string_view<wchar_t, std::char_traits<wchar_t> >)", "f(std::wstring_view)");
    check("f(std::basic_string<unsigned char, std::char_traits<unsigned char>, "
          "std::allocator<unsigned char> >)",
          "f(std::basic_string<unsigned char>)");
    check("std::map<" STRING ", std::vector<" STRING ", std::allocator<" STRING
          " > >, std::less<" STRING " >, std::allocator<std::pair<" STRING
          " const, std::vector<" STRING ", std::allocator<" STRING " > > > > >::clear()",
          "std::map<std::string, std::vector<std::string>>::clear()");
    check("std::unique_ptr<a::b, std::default_delete<a::b> >::get() const",
          "std::unique_ptr<a::b>::get() const");
    check("std::set<int*, std::less<int*>, std::allocator<int*> >::end()", "std::set<int*>::end()");
    check("std::unordered_map<int, char, std::hash<int>, std::equal_to<int>, "
          "std::allocator<std::pair<int const, char> > >::at(int const&)",
          "std::unordered_map<int, char>::at(int const&)");
    check("std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
          "<std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, char "
          "const*)",
          "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)");
    check("std::__1::vector<int, std::__1::allocator<int>>::size()", "std::vector<int>::size()");
}

/* What follows the sign of an operator begins a template's arguments, or not. */
static void test_operators(void)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=",  "<=>", "-",   "-=",  "*",
                                        "*=", ",",  "->", "->*", ">>",  ">>=", "<<=", "+",
                                        "&&", "[]", "()", "%",   "< ",  "<< ", ">"};
    for (size_t i = 0; i < G_N_ELEMENTS(signs); i++) {
        g_autofree char *made = g_strdup_printf("a::operator%s<" STRING ">(b<c>)", signs[i]);
        g_autofree char *made_short = g_strdup_printf("a::operator%s<std::string>(b<c>)", signs[i]);
        g_autofree char *plain = g_strdup_printf("a::operator%s(" STRING ")", signs[i]);
        g_autofree char *plain_short = g_strdup_printf("a::operator%s(std::string)", signs[i]);
        check(made, made_short);
        check(plain, plain_short);
    }
    check("a::operator " STRING "() const", "a::operator std::string() const");
}

static void test_others_stay(void)
{
    check("std::vector<int, pool<int> >::size()", "std::vector<int, pool<int>>::size()");
    check("std::set<int, std::less<void>, std::allocator<int> >::end()",
          "std::set<int, std::less<void>>::end()");
    check("std::vector<int, std::allocator<long> >::size()",
          "std::vector<int, std::allocator<long>>::size()");
    check("own::vector<int, std::allocator<int> >::size()",
          "own::vector<int, std::allocator<int>>::size()");
    check("t<int>::operator<(t<int> const&) const", "t<int>::operator<(t<int> const&) const");
    check("t<int>::operator->() const", "t<int>::operator->() const");
    check("t<int>::operator()(int)::{lambda(int, t<int>)#1}::operator()(int, t<int>) const",
          "t<int>::operator()(int)::{lambda(int, t<int>)#1}::operator()(int, t<int>) const");
    check("auto f<int>(int)->decltype(g<int>({parm#1}))",
          "auto f<int>(int)->decltype(g<int>({parm#1}))");
    check("void f<(kind)3, (anonymous namespace)::a>()",
          "void f<(kind)3, (anonymous namespace)::a>()");
}

static void test_no_names(void)
{
    static const char *const same[] = {"", "main", "a > b", "f<", "f(", "<<<>", "x<int", "f(a]"};
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
        check(same[i], same[i]);
    g_autoptr(GString) deep = g_string_new(NULL);
    for (unsigned i = 0; i < 100000; i++)
        g_string_append(deep, "a<");
    check(deep->str, deep->str);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/cxx-name/defaults", test_defaults);
    g_test_add_func("/base/cxx-name/operators", test_operators);
    g_test_add_func("/base/cxx-name/others-stay", test_others_stay);
    g_test_add_func("/base/cxx-name/no-names", test_no_names);
    return g_test_run();
}
