/* SPDX-License-Identifier: Apache-2.0 */
/* Result of a step of a longer work. */
#pragma once

enum fm_job_state { FM_JOB_MORE, FM_JOB_DONE, FM_JOB_FAILED };
