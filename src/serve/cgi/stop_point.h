/* SPDX-License-Identifier: Apache-2.0 */
/* Named points at which a test can kill, stop or delay the process. In the shipped program the
 * macro is empty. In the test build FATHOM_STOP="C5=kill,S2=sleep:2000" gives actions for points;
 * with FATHOM_STOP_ONCE=FILE each happens only in the process that first creates FILE.<point>. */
#pragma once

#ifdef FATHOM_TEST_HOOKS
void fm_cgi_stop_point(const char *name);
/* The error with which a test wants a system call to fail here (0 = none): "C9.fork=fail:11". */
int fm_cgi_fail_point(const char *name);
#else
static inline void fm_cgi_stop_point(const char *name)
{
    (void)name;
}
static inline int fm_cgi_fail_point(const char *name)
{
    (void)name;
    return 0;
}
#endif
