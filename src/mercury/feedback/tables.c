/* SPDX-License-Identifier: Apache-2.0 */
#include "mercury/feedback/tables.h"

#include <inttypes.h>

#include "base/text/csv.h"
#include "base/text/json.h"

static const char *speedup_name(enum fm_speedup_algorithm algorithm)
{
    static const char *const names[] = {"independent", "naive", "overlap"};
    return names[algorithm];
}

static const char *best_name(enum fm_best_algorithm algorithm)
{
    static const char *const names[] = {"complete-branches", "complete-size", "complete", "greedy"};
    return names[algorithm];
}

static void write_params(struct fm_json *json, const struct fm_feedback_params *params)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"spark_cost", params->spark_cost},
        {"spark_delay", params->spark_delay},
        {"barrier_cost", params->barrier_cost},
        {"signal_cost", params->signal_cost},
        {"wait_cost", params->wait_cost},
        {"wakeup_delay", params->wakeup_delay},
        {"clique_threshold", params->clique_threshold},
        {"call_site_threshold", params->call_site_threshold},
    };
    fm_json_object(json, "parameters");
    fm_json_double(json, "desired_parallelism", params->desired_parallelism);
    fm_json_bool(json, "intermodule", params->intermodule);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        fm_json_int(json, numbers[i].name, numbers[i].value);
    fm_json_double(json, "speedup_threshold", params->speedup_threshold);
    fm_json_text(json, "speedup_algorithm", speedup_name(params->speedup));
    fm_json_text(json, "best_algorithm", best_name(params->best));
    if (params->best == FM_BEST_COMPLETE_BRANCHES || params->best == FM_BEST_COMPLETE_SIZE)
        fm_json_int(json, "best_limit", params->best_limit);
    else
        fm_json_null(json, "best_limit");
    fm_json_end(json);
}

static char *var_name(const struct fm_feedback_proc *proc, uint32_t var)
{
    for (guint i = 0; i < proc->names->len; i++) {
        const struct fm_var_name *name = &g_array_index(proc->names, struct fm_var_name, i);
        if (name->var == var)
            return g_strdup(name->name);
    }
    return g_strdup_printf("V_%" PRIu32, var);
}

static void write_push(struct fm_json *json, const char *name, const struct fm_push *push)
{
    fm_json_object(json, name);
    fm_json_text(json, "path", push->path);
    fm_json_int(json, "low", push->low);
    fm_json_int(json, "high", push->high);
    fm_json_array(json, "targets");
    for (guint i = 0; i < push->targets->len; i++)
        fm_json_text(json, NULL, push->targets->pdata[i]);
    fm_json_end(json);
    fm_json_end(json);
}

/* Derived figures of the report. */
struct derived {
    double overheads, speedup, saving, dead;
};

static struct derived derive(const struct fm_parallel_metrics *m)
{
    return (struct derived){
        .overheads = m->spark + m->barrier + m->signals + m->waits,
        .speedup = m->parallel == 0 ? 0 : m->sequential / m->parallel,
        .saving = m->sequential - m->parallel,
        .dead = m->first_dead + m->future_dead,
    };
}

static void write_metrics(struct fm_json *json, const struct fm_parallel_metrics *m)
{
    const struct derived d = derive(m);
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"sequential_time", m->sequential},
        {"parallel_time", m->parallel},
        {"spark_cost", m->spark},
        {"barrier_cost", m->barrier},
        {"signals_cost", m->signals},
        {"waits_cost", m->waits},
        {"overheads", d.overheads},
        {"speedup", d.speedup},
        {"time_saving", d.saving},
        {"first_conjunct_dead_time", m->first_dead},
        {"future_dead_time", m->future_dead},
        {"dead_time", d.dead},
    };
    fm_json_int(json, "calls", m->calls);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        fm_json_double(json, numbers[i].name, numbers[i].value);
}

static void write_times(struct fm_json *json, const char *name, const struct fm_feedback_proc *proc,
                        const GArray *times)
{
    fm_json_array(json, name);
    for (guint i = 0; i < times->len; i++) {
        const struct fm_var_time *time = &g_array_index(times, struct fm_var_time, i);
        g_autofree char *var = var_name(proc, time->var);
        fm_json_object(json, NULL);
        fm_json_text(json, "variable", var);
        fm_json_double(json, "time", time->time);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_goal(struct fm_json *json, const struct fm_feedback_proc *proc,
                       const struct fm_feedback_goal *goal, const char *part, guint conjunct)
{
    g_autoptr(GString) code = g_string_new(NULL);
    fm_json_line(json, 3);
    fm_json_object(json, NULL);
    fm_json_text(json, "part", part);
    if (conjunct > 0)
        fm_json_uint(json, "conjunct", conjunct);
    else
        fm_json_null(json, "conjunct");
    fm_json_text(json, "determinism", fm_detism_name(goal->goal.detism));
    fm_json_double(json, "cost", goal->cost);
    fm_json_bool(json, "above_threshold", goal->above_threshold);
    write_times(json, "productions", proc, goal->productions);
    write_times(json, "consumptions", proc, goal->consumptions);
    fm_feedback_append_goal(code, proc, goal);
    fm_json_text(json, "code", code->str);
    fm_json_end(json);
}

static void write_goals(struct fm_json *json, const struct fm_feedback_proc *proc,
                        const struct fm_candidate *candidate)
{
    fm_json_array(json, "goals");
    for (guint i = 0; i < candidate->before->len; i++)
        write_goal(json, proc, candidate->before->pdata[i], "before", 0);
    for (guint k = 0; k < candidate->conjuncts->len; k++) {
        const GPtrArray *conjunct = candidate->conjuncts->pdata[k];
        for (guint i = 0; i < conjunct->len; i++)
            write_goal(json, proc, conjunct->pdata[i], "parallel", k + 1);
    }
    for (guint i = 0; i < candidate->after->len; i++)
        write_goal(json, proc, candidate->after->pdata[i], "after", 0);
    fm_json_end(json);
}

static void write_candidate(struct fm_json *json, const struct fm_feedback_proc *proc,
                            const struct fm_candidate *candidate)
{
    fm_json_line(json, 2);
    fm_json_object(json, NULL);
    fm_json_text(json, "path", candidate->path);
    if (candidate->push == NULL)
        fm_json_null(json, "push");
    else
        write_push(json, "push", candidate->push);
    fm_json_array(json, "dependent_on");
    for (guint i = 0; i < candidate->shared->len; i++) {
        g_autofree char *var = var_name(proc, g_array_index(candidate->shared, uint32_t, i));
        fm_json_text(json, NULL, var);
    }
    fm_json_end(json);
    write_metrics(json, &candidate->metrics);
    fm_json_double(json, "cost_before", candidate->cost_before);
    fm_json_double(json, "cost_after", candidate->cost_after);
    write_goals(json, proc, candidate);
    fm_json_end(json);
}

void fm_feedback_json(const struct fm_feedback *feedback, GString *out)
{
    struct fm_json json;
    fm_json_init(&json, out);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_text(&json, "program", feedback->program);
    if (feedback->has_conjunctions)
        write_params(&json, &feedback->params);
    else
        fm_json_null(&json, "parameters");
    fm_json_array(&json, "procedures");
    for (guint i = 0; i < feedback->procs->len; i++) {
        const struct fm_feedback_proc *proc = feedback->procs->pdata[i];
        g_autoptr(GString) label = g_string_new(NULL);
        fm_proc_label_append(label, &proc->label);
        fm_json_line(&json, 1);
        fm_json_object(&json, NULL);
        fm_json_text(&json, "procedure", label->str);
        fm_json_array(&json, "pushes");
        for (guint p = 0; p < proc->pushes->len; p++)
            write_push(&json, NULL, proc->pushes->pdata[p]);
        fm_json_end(&json);
        fm_json_array(&json, "conjunctions");
        for (guint c = 0; c < proc->candidates->len; c++)
            write_candidate(&json, proc, proc->candidates->pdata[c]);
        fm_json_end(&json);
        fm_json_end(&json);
    }
    fm_json_end(&json);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

static void append_number(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_c(out, ',');
    g_string_append(out, g_ascii_dtostr(text, sizeof text, value));
}

static void append_row(GString *out, const struct fm_feedback_proc *proc,
                       const struct fm_candidate *candidate)
{
    const struct fm_parallel_metrics *m = &candidate->metrics;
    const struct derived d = derive(m);
    g_autoptr(GString) label = g_string_new(NULL), names = g_string_new(NULL);
    fm_proc_label_append(label, &proc->label);
    for (guint i = 0; i < candidate->shared->len; i++) {
        g_autofree char *var = var_name(proc, g_array_index(candidate->shared, uint32_t, i));
        g_string_append_printf(names, "%s%s", i == 0 ? "" : " ", var);
    }
    fm_csv_append_text(out, label->str);
    g_string_append_c(out, ',');
    fm_csv_append_text(out, candidate->path);
    g_string_append_c(out, ',');
    fm_csv_append_text(out, candidate->push == NULL ? "" : candidate->push->path);
    g_string_append_c(out, ',');
    fm_csv_append_text(out, names->str);
    g_string_append_printf(out, ",%" PRId64, m->calls);
    const double values[] = {m->sequential, m->parallel,   m->spark,       m->barrier,
                             m->signals,    m->waits,      d.overheads,    d.speedup,
                             d.saving,      m->first_dead, m->future_dead, d.dead};
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        append_number(out, values[i]);
    g_string_append(out, "\r\n");
}

void fm_feedback_csv(const struct fm_feedback *feedback, GString *out)
{
    g_string_append(out, "procedure,path,pushed_from,dependent_on,calls,sequential_time,"
                         "parallel_time,spark_cost,barrier_cost,signals_cost,waits_cost,overheads,"
                         "speedup,time_saving,first_conjunct_dead_time,future_dead_time,"
                         "dead_time\r\n");
    for (guint i = 0; i < feedback->procs->len; i++) {
        const struct fm_feedback_proc *proc = feedback->procs->pdata[i];
        for (guint c = 0; c < proc->candidates->len; c++)
            append_row(out, proc, proc->candidates->pdata[c]);
    }
}
