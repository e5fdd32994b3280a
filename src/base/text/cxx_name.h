/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ entities, as demanglers write them, made readable. */
#pragma once

/* The name without the template arguments that the standard library gives by default, and with its
 * own short names: "std::vector<int, std::allocator<int> >::size() const" becomes
 * "std::vector<int>::size() const", std::__cxx11::basic_string<char, ...> std::string. Other
 * arguments stay. A text that is no such name (its brackets do not match) is returned as it is; so
 * two names may become one. Newly allocated. */
char *fm_cxx_name_shorten(const char *name);
