/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Languages by the form of their names. GUESS is by the form of the linker's name: what has no
 * known form is read as C++, which reads C, too. */
enum fm_name_language {
    FM_NAME_GUESS,
    FM_NAME_CXX,
    FM_NAME_RUST,
    FM_NAME_GO,
    FM_NAME_D,
    FM_NAME_SWIFT,
    FM_NAME_FORTRAN,
    FM_NAME_HASKELL,
    FM_NAME_JAVA,
    FM_NAME_JS,
    FM_NAME_PYTHON,
};
