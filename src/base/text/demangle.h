/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The source form of a symbol: C++ names demangled, clang's lambdas named as by gcc, other names
 * unchanged. Newly allocated. */
char *fm_demangle(const char *symbol);
