# SPDX-License-Identifier: Apache-2.0
"""Reads a recording file, by docs/format-recording.md alone, for tests."""
import struct

U32, U64 = struct.Struct("<I"), struct.Struct("<Q")


class Rec:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = f.read()
        b = self.bytes
        assert b[:8] == b"FATHOMR\n", path
        (self.version, self.order, self.header_bytes, self.state, self.grade_flags, self.ptr,
         self.map_base, self.used, self.limit, self.pid, self.ppid, self.instance,
         self.tick_source, self.process_start, self.realtime, self.start, self.end,
         self.quantum_ns, first_thread, first_module, first_mark, self.first_chunk,
         self.module_epoch, program, arguments, directory, self.dropped_nodes,
         self.dropped_threads, self.dropped_modules, self.live, self.peak, _,
         self.on, self.snapshot) = struct.unpack_from("<6I3Q4I5Q8I3Q2q3Q", b, 8)
        assert (self.version, self.order, self.header_bytes) == (4, 0x01020304, 4096)
        (self.wait_clock, self.threshold_ns, at_latest, _, first, first_ns, *latest) = \
            struct.unpack_from("<4I9Q", b, 208)
        self.wait_backwards, self.wait_dropped, self.blame_dropped = latest[4:]
        last, last_ns = latest[2 * at_latest:2 * at_latest + 2]
        self.ns_per_tick = (last_ns - first_ns) / (last - first) if last > first else 1.0
        held, = U32.unpack_from(b, 296)
        self.held = None
        if held:
            self.held = dict(zip(
                ("epoch", "rising", "step", "peak_ns", "unknown_frees", "unknown_freed",
                 "inherited_frees", "inherited_freed", "unseen_frees", "unseen_freed",
                 "untold_blocks", "untold_bytes", "dropped_flows"),
                struct.unpack_from("<2I11Q", b, held * 8)))
            begun, counted, at_peak = struct.unpack_from("<3Q", b, 400)
            self.held["under_way"] = begun - counted
            self.held["off_at_peak"] = begun - counted if self.held["rising"] else at_peak
        assert bool(held) == bool(self.grade_flags & 64)
        self.program = self.text(program)
        self.modules = []
        for at in self.chain(first_module):
            (_, flags, start, end, bias, loaded, unloaded, path, idn) = struct.unpack_from(
                "<2I3Q4I", b, at)
            self.modules.append(dict(flags=flags, start=start, end=end, bias=bias, loaded=loaded,
                                     unloaded=unloaded, path=self.text(path),
                                     build_id=b[at + 48:at + 48 + idn].hex()))
        self.marks = []
        for at in self.chain(first_mark):
            _, tid, ns, quanta, snap, name = struct.unpack_from("<2I2Q2I", b, at)
            self.marks.insert(0, dict(tid=tid, quanta=quanta, snapshot=snap,
                                      name=self.text(name)))
        self.threads = [self.thread(at) for at in self.chain(first_thread)][::-1]

    def chain(self, ref):
        while ref:
            yield ref * 8
            ref = U32.unpack_from(self.bytes, ref * 8)[0]

    def text(self, ref):
        if not ref:
            return None
        n = U32.unpack_from(self.bytes, ref * 8)[0]
        return self.bytes[ref * 8 + 4:ref * 8 + 4 + n].decode("utf-8", "replace")

    def side(self, ref):
        out = {}
        for at in self.chain(ref):
            _, kind, value = struct.unpack_from("<2IQ", self.bytes, at)
            out[kind] = value
        return out

    def waits(self, ref):
        """{kind: {calls, waits, ns, ..., blames}} from a list of fm_rec_wait."""
        out = {}
        for at in self.chain(ref):
            (_, kind, calls, waits, ticks, longest, short, cpu, left,
             blame) = struct.unpack_from("<2I6Q2I", self.bytes, at)
            assert kind not in out, "a kind twice"
            blames = [struct.unpack_from("<2IQ2I3Q", self.bytes, b) for b in self.chain(blame)]
            out[kind] = dict(calls=calls, waits=waits, ns=ticks * self.ns_per_tick,
                             longest_ns=longest * self.ns_per_tick,
                             short_ns=short * self.ns_per_tick, cpu=cpu, left=left,
                             blames=[dict(holder=b[1], lock=b[2], waits=b[5],
                                          ns=b[6] * self.ns_per_tick) for b in blames])
        return out

    def flow(self, at):
        """(from, blocks, bytes, ns held, longest)"""
        return struct.unpack_from("<I2Q8x2Q", self.bytes, at + 4)

    def alloc(self, ref):
        """(allocs, bytes, usable bytes, frees, freed bytes), and what is known of blocks."""
        five = struct.unpack_from("<5Q", self.bytes, ref * 8)
        if self.held is None:
            return five, None
        (own, own_freed, stamp, _, at_peak, at_peak_blocks, far, far_freed, first, out, moved, kept,
         lifetimes) = struct.unpack_from("<2Q2I4Q2I2QI", self.bytes, ref * 8 + 40)
        flows = [self.flow(at) for at in self.chain(first)]
        while out:
            origin, blocks, size, *_ = self.flow(out * 8)
            assert origin == ref, "a flow of another record"
            own, own_freed = own + blocks, own_freed + size
            out, = struct.unpack_from("<I", self.bytes, out * 8 + 24)
        live, live_blocks = five[1] - own_freed - far_freed, five[0] - own - far
        now = self.held["rising"] or stamp != self.held["epoch"]
        held = dict(ref=ref, own=(own, own_freed), far=(far, far_freed), live=live,
                    live_blocks=live_blocks, flows=flows, moved=moved, kept=kept,
                    lifetimes=lifetimes,
                    peak=live if now else at_peak, peak_blocks=live_blocks if now else at_peak_blocks)
        return (*five[:3], five[3] + sum(f[1] for f in flows),
                five[4] + sum(f[2] for f in flows)), held

    def csd(self, ref):
        (calls, hook, site, caller, callee, nxt, alloc, side, quanta, excps,
         ef) = struct.unpack_from("<3Q8I", self.bytes, ref * 8)
        c = dict(ref=ref, calls=calls, hook_pc=hook, site=site, caller=caller, callee=callee,
                 next=nxt, side=self.side(side), quanta=quanta, excps=excps, epoch=ef >> 8,
                 inlined=bool(ef & 1), callback=bool(ef & 2), made=bool(ef & 4),
                 signal=bool(ef & 8), open=0)
        c["alloc"], c["held"] = self.alloc(alloc) if alloc else ((0,) * 5, None)
        c["quanta"] += c["side"].get(2, 0) << 32
        c["excps"] += c["side"].get(3, 0) << 32
        return c

    def pd(self, ref):
        fn, first, maker, epoch, point = struct.unpack_from("<Q4I", self.bytes, ref * 8)
        return dict(ref=ref, fn=fn, first=first, maker=maker, epoch=epoch, point=point)

    def thread(self, at):
        b = self.bytes
        (_, state, tid, number, start, end, root_pd, root_csd, first_stack, source, user, instr,
         ticks, cpu, dropped, unmatched, inexact, unresolved, started,
         name, charges, squares) = struct.unpack_from("<4I2Q4I9Q16s2Q", b, at)
        t = dict(state=state, tid=tid, number=number, root_pd=root_pd, source=source, user=user,
                 instrumentation=instr, ticks=ticks, cpu_ns=cpu, dropped=dropped,
                 unmatched=unmatched, inexact=inexact, unresolved=unresolved, started_in=started,
                 charges=charges, squares=squares,
                 name=name.rstrip(b"\0").decode(), pds={}, csds={})
        (t["stack"], t["wait_kind"], t["wait_since"], t["wait_object"], t["wait_csd"],
         t["wait_holder"], t["wait_away"], t["wait_quanta"], t["queued_first"], t["queued"],
         t["cpu_last"]) = struct.unpack_from("<2I2Q2I5Q", b, at + 152)
        root = self.csd(root_csd)
        assert root["made"] and root["caller"] == 0 and root["callee"] == root_pd
        t["root_csd"] = root
        todo = [root_pd]
        t["pds"][root_pd] = self.pd(root_pd)
        assert t["pds"][root_pd]["fn"] == 0
        while todo:
            pd = t["pds"][todo.pop()]
            ref, older = pd["first"], None
            while ref:
                c = self.csd(ref)
                assert c["caller"] == pd["ref"], "csd in another's list"
                assert ref not in t["csds"], "csd in two lists"
                t["csds"][ref] = c
                if c["made"]:
                    assert c["callee"] not in t["pds"], "pd made twice"
                    t["pds"][c["callee"]] = self.pd(c["callee"])
                    assert t["pds"][c["callee"]]["maker"] == ref
                    todo.append(c["callee"])
                ref = c["next"]
        for c in t["csds"].values():
            assert c["callee"] in t["pds"], "callee was never made"
        keys = [(c["caller"], c["hook_pc"], c["site"], c["epoch"]) for c in t["csds"].values()]
        assert len(keys) == len(set(keys)), "an edge was made twice"
        t["open"] = []
        for at in self.chain(first_stack):
            _, owner, low, high, frames, capacity = struct.unpack_from("<2I2Q2I", b, at)
            for i in range(1, capacity):
                cfa, csd, key, fn = struct.unpack_from("<4Q", b, frames * 8 + i * 32)
                if cfa == 0:
                    break
                ref = (csd - self.map_base) // 8
                counted = not cfa & 1
                t["open"].append((cfa & ~3, ref, counted))
                if counted and not self.grade_flags & 1:
                    t["csds"][ref]["open"] += 1
        assert sum(c["quanta"] for c in t["csds"].values()) + root["quanta"] == user
        for c in t["csds"].values():
            c["exits"] = c["calls"] - c["excps"] - c["open"]
            assert c["exits"] >= 0, c
        return t

    def module(self, address, epoch):
        for m in self.modules:
            if m["start"] <= address < m["end"] and m["loaded"] <= epoch < m["unloaded"]:
                return m
        return None


if __name__ == "__main__":
    import subprocess
    import sys
    rec = Rec(sys.argv[1])
    names = {}

    def name(fn, epoch):
        if fn == 0:
            return "<root>"
        m = rec.module(fn, epoch)
        if m is None:
            return hex(fn)
        if m["path"] not in names:
            out = subprocess.run(["nm", m["path"]], capture_output=True, text=True).stdout
            names[m["path"]] = {int(l.split()[0], 16): l.split()[2] for l in out.splitlines()
                                if len(l.split()) == 3 and l.split()[1] in "tTwW"}
        return names[m["path"]].get(fn - m["bias"], hex(fn - m["bias"]))

    print(f"state {rec.state} used {rec.used} quantum {rec.quantum_ns} source {rec.tick_source} "
          f"live {rec.live} peak {rec.peak} dropped {rec.dropped_nodes}")
    for t in rec.threads:
        csds = t["csds"]
        print({k: v for k, v in t.items() if k not in ("pds", "csds", "root_csd", "open")},
              len(csds), "csds", len(t["pds"]), "pds", "open", len(t["open"]))
        print("root", t["root_csd"]["quanta"], t["root_csd"]["alloc"])
        if len(csds) > 400 and "-a" not in sys.argv:
            continue

        def show(pd, depth):
            kids = [c for c in csds.values() if c["caller"] == pd]
            for c in sorted(kids, key=lambda c: c["ref"]):
                callee = t["pds"][c["callee"]]
                flags = "".join(f for f, on in (("i", c["inlined"]), ("c", c["callback"]),
                                                ("s", c["signal"]), ("R", not c["made"])) if on)
                print("  " * depth, name(callee["fn"], callee["epoch"]), flags, c["calls"],
                      "x", c["excps"], "o", c["open"], "q", c["quanta"], c["alloc"], c["side"])
                if c["made"]:
                    show(c["callee"], depth + 1)
        show(t["root_pd"], 1)
