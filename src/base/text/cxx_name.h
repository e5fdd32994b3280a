/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the names of C++ entities, as demanglers write them, more readable. */
#pragma once

/* Removes default template arguments of the standard library, and uses its short names:
 * "std::vector<int, std::allocator<int> >::size() const" becomes "std::vector<int>::size() const",
 * std::__cxx11::basic_string<char, ...> becomes std::string. Other arguments stay. A text whose
 * brackets do not match is returned unchanged. Different names may become equal. Newly
 * allocated. */
char *fm_cxx_name_shorten(const char *name);
