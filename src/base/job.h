/* SPDX-License-Identifier: Apache-2.0 */
/* What a step of a longer work says. */
#pragma once

enum fm_job_state { FM_JOB_MORE, FM_JOB_DONE, FM_JOB_FAILED };
