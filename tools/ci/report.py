# SPDX-License-Identifier: Apache-2.0
"""The end of a run: what failed, how to repeat it, minutes by job. A red run says all of it within its
last 60 lines."""
import dataclasses
import subprocess

WIDTH = 180
LINES = 55
OTHERS = 12  # failures that are told in one line each, behind those that are told whole


@dataclasses.dataclass
class Failure:
    job: str
    name: str
    said: list
    again: str
    last: list = dataclasses.field(default_factory=list)
    limit: float | None = None
    alone: list | None = None
    alone_passes: bool | None = None

    def lines(self, most):
        """At most `most` lines: the name, what it said, its last lines, the command."""
        limit = f", limit {self.limit} s" if self.limit else ""
        head = f"== {self.job}: {self.name}{limit}"
        if self.alone_passes is not None:
            head += f"; run once more, alone, it {'passes' if self.alone_passes else 'does not pass'}"
        said = self.said[:max(1, (most - 2) * 2 // 3)]
        last = [line for line in self.last if line.strip() and line not in said]
        room = most - 2 - len(said)
        shown = said + (last[-room:] if room > 0 else [])
        return [head, *("   " + line[:WIDTH] for line in shown), f"   again: {self.again}"]


def ccache_line():
    try:
        out = subprocess.run(["ccache", "--show-log-stats"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "compiler cache: there is no ccache"
    words = [" ".join(line.split()) for line in out.stdout.splitlines()
             if line.split()[:1] in (["Hits:"], ["Misses:"])]
    return "compiler cache: " + (", ".join(words[:2]) or "nothing was compiled")


def write(run, detailed):
    """Prints the report; returns whether the run passed."""
    shown, others = run.failures[:detailed], run.failures[detailed:]
    end = [f"unsteady: {line}"[:WIDTH] for line in run.unsteady.told]
    if others:
        end.append(f"== also not passed ({len(others)}):")
        end += [f"   {failure.job}: {failure.name}: {failure.again}" for failure in others[:OTHERS]]
        if len(others) > OTHERS:
            names = ", ".join(f"{failure.job}: {failure.name}" for failure in others[OTHERS:])
            cut = names if len(names) <= 4 * WIDTH else names[:4 * WIDTH] + " ... and more"
            end.append(f"   and {len(others) - OTHERS} more: {cut}")
    total = sum(minutes for _, minutes in run.minutes)
    end.append("minutes: " + ", ".join(f"{job} {minutes:.1f}" for job, minutes in run.minutes) +
               f"; in all {total:.1f}")
    end.append(ccache_line())
    if run.counts.get("unsteady"):
        end.append(f"unsteady tests that did not pass: {run.counts['unsteady']}")
    end.append("{passed} passed, {failed} failed, {skipped} skipped".format(**run.counts))
    room = LINES - len(end)
    for failure in shown:
        print(*failure.lines(room // max(1, len(shown))), sep="\n")
    print(*end, sep="\n", flush=True)
    return not run.failures and run.counts["passed"] > 0
