/* SPDX-License-Identifier: Apache-2.0 */
/* What C++ code leaves out where it names templates of the standard library: arguments that are
 * defaults, and the long form of names that have a short one. */
#pragma once

#define FM_CXX_LIBRARY_ARGUMENTS 5u /* templates with more keep all */

/* How many arguments are left without the defaults at the end. name: "std::vector", of which
 * compilers write the arguments "int", "std::allocator<int>". */
unsigned fm_cxx_library_arguments(const char *name, const char *const *arguments, unsigned count);

/* "string" for "std::basic_string" with the argument "char"; NULL = it has no short name. g_free.
 */
char *fm_cxx_library_word(const char *name, const char *argument);
