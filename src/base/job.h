/* SPDX-License-Identifier: Apache-2.0 */
/* Result of one step of a longer job. */
#pragma once

enum fm_job_state { FM_JOB_MORE, FM_JOB_DONE, FM_JOB_FAILED };
