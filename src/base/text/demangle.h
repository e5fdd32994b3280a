/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The source form of a linker's name: C++ names demangled, clang's lambdas named as gcc names them,
 * others unchanged. Newly allocated. */
char *fm_demangle(const char *symbol);
