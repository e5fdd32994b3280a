# SPDX-License-Identifier: Apache-2.0
"""Programs that nobody tuned for: from Debian's sources, with the flags that its packages are built
with. How each is put together, and the work that it does."""
import pathlib
import shutil
import subprocess
import sys

OWN = pathlib.Path(__file__).resolve().parent / "programs"
UNICODE = pathlib.Path("/usr/share/unicode") # Debian's unicode-data
# name: source package
SOURCES = {"zstd": "libzstd", "jq": "jq", "tcc": "tcc", "redis": "redis", "ninja": "ninja-build",
           "re2": "re2", "leveldb": "leveldb", "zopfli": "zopfli", "mawk": "mawk",
           "tidy": "tidy-html5", "duktape": "duktape"}
NAMES = list(SOURCES)
UNSEEN = ["zopfli", "mawk", "tidy", "duktape"]  # whose figures led to no change
TELLS_TIMES = ("redis",)  # what it prints differs each time
FLAGS = ["-g", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"]
# What configure finds on Debian.
JQ_HAS = ("MEMMEM ISATTY TIMEGM GMTIME_R GMTIME LOCALTIME_R STRPTIME STRFTIME TM_TM_GMT_OFF "
          "GETTIMEOFDAY ALLOCA_H MKSTEMP ATEXIT FREXP MODF LGAMMA_R PTHREAD_KEY_CREATE PTHREAD_ONCE "
          "FLOOR SQRT POW LOG LOG10 LOG2 EXP EXP2 EXP10 CEIL ROUND TRUNC FABS").split()


def put(path, text):
    """Writes a made file, unless it is there as it should be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


class Packaged:
    """sources: where the packages are unpacked. made: folder for what is generated."""

    def __init__(self, sources, made):
        self.sources, self.made = sources, made

    def files(self, name):
        """Source files, compiler's flags, libraries."""
        files, flags, libraries = getattr(self, "_" + name)(self.sources / SOURCES[name])
        return files, FLAGS + flags, libraries

    def _zstd(self, source):
        library, programs = source / "lib", source / "programs"
        parts = ("common", "compress", "decompress", "dictBuilder")
        files = [file for part in parts for file in sorted((library / part).glob("*.c"))]
        files += [programs / f"{name}.c" for name in (
            "zstdcli util timefn fileio fileio_asyncio benchfn benchzstd datagen dibio "
            "zstdcli_trace").split()]
        return files, ["-DZSTD_MULTITHREAD", "-DXXH_NAMESPACE=ZSTD_", "-DZSTD_LEGACY_SUPPORT=0",
                       "-DZSTD_DISABLE_ASM=1", f"-I{library}", f"-I{programs}",
                       *(f"-I{library / part}" for part in parts)], ["-lpthread"]

    def _jq(self, source):
        text = (source / "src" / "builtin.jq").read_text()
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').splitlines()
        for folder in (self.made / "jq", self.made / "jq" / "src"):
            put(folder / "builtin.inc", "".join(f'"{line}\\n"\n' for line in quoted))
            put(folder / "version.h", '#define JQ_VERSION "1.6"\n')
        put(self.made / "jq" / "no_tests.c",
            "int jq_testsuite(void *a, int b, int c, char **d);\n"
            "int jq_testsuite(void *a, int b, int c, char **d)\n"
            "{ (void)a; (void)b; (void)c; (void)d; return 2; }\n")
        files = [file for file in sorted((source / "src").glob("*.c"))
                 if file.stem not in ("inject_errors", "jq_test")]
        return (files + [self.made / "jq" / "no_tests.c"],
                ["-D_GNU_SOURCE", "-DIEEE_8087=1", *(f"-DHAVE_{has}" for has in JQ_HAS),
                 f"-I{self.made / 'jq'}", f"-I{self.made / 'jq' / 'src'}", f"-I{source / 'src'}"],
                ["-lm", "-lpthread"])

    def _tcc(self, source):
        put(self.made / "tcc" / "config.h",
            '#define TCC_VERSION "0.9.27"\n#define CONFIG_TCCDIR "."\n'
            '#define GCC_MAJOR 12\n#define GCC_MINOR 2\n')
        return [source / "tcc.c"], ["-DTCC_TARGET_X86_64", "-DONE_SOURCE=1", "-fno-strict-aliasing",
                                    f"-I{self.made / 'tcc'}", f"-I{source}"], \
            ["-lm", "-ldl", "-lpthread"]

    def _redis(self, source):
        src, deps = source / "src", source / "deps"
        put(self.made / "redis" / "release.h",
            '#define REDIS_GIT_SHA1 "0"\n#define REDIS_GIT_DIRTY "0"\n#define REDIS_BUILD_ID "0"\n'
            '#define REDIS_BUILD_ID_RAW "0"\n')
        apart = ("redis-cli", "redis-benchmark", "cli_common", "redisassert", "ae_epoll",
                 "ae_evport", "ae_kqueue", "ae_select")
        files = [file for file in sorted(src.glob("*.c")) if file.stem not in apart]
        files += [deps / "hdr_histogram" / "hdr_histogram.c"]
        files += [deps / "hiredis" / f"{name}.c" for name in (
            "alloc net hiredis sds async read sockcompat").split()]
        lua = deps / "lua" / "src"
        files += [file for file in sorted(lua.glob("*.c"))
                  if file.stem not in ("lua", "luac", "print")]
        folders = [self.made / "redis", src, lua, deps / "hiredis", deps / "linenoise",
                   deps / "hdr_histogram"]
        return files, ["-DREDIS_TEST=1", "-DREDIS_STATIC=", "-DLUA_ANSI", "-DENABLE_CJSON_GLOBAL",
                       '-DHDR_MALLOC_INCLUDE="hdr_redis_malloc.h"', "-std=gnu11",
                       *(f"-I{folder}" for folder in folders)], ["-lm", "-ldl", "-lpthread"]

    def _ninja(self, source):
        src = source / "src"
        apart = ("test", "bench", "win32", "browse", ".in")
        files = [file for file in sorted(src.glob("*.cc"))
                 if not any(word in file.name for word in apart)]
        manifests = self.made / "ninja" / "manifests"
        if not (manifests / "build.ninja").exists():
            subprocess.run([sys.executable, source / "misc" / "write_fake_manifests.py",
                            manifests], check=True)
        return files, [f"-iquote{src}"], ["-lpthread"]

    def _re2(self, source):
        made = self.made / "re2"
        tables = [made / f"{name}.cc" for name in (
            "perl_groups", "unicode_casefold", "unicode_groups")]
        if not all(table.exists() for table in tables):
            made.mkdir(parents=True, exist_ok=True)
            if not (UNICODE / "UnicodeData.txt").exists():
                raise SystemExit(f"re2's tables are made from {UNICODE}: install unicode-data")
            for script in (source / "re2").glob("*.p[yl]"):
                shutil.copy(script, made)
            text = (made / "unicode.py").read_text()
            address = text.partition('_UNICODE_DIR = "')[2].partition('"')[0]
            (made / "unicode.py").write_text(text.replace(address, str(UNICODE)))
            for table in tables:
                script = made / ("make_" + table.stem + (".pl" if "perl" in table.stem else ".py"))
                tool = "perl" if script.suffix == ".pl" else sys.executable
                with open(table, "w", encoding="utf-8") as out:
                    subprocess.run([tool, script], stdout=out, check=True)
        files = sorted((source / "re2").glob("*.cc")) + tables
        files += [source / "util" / "rune.cc", source / "util" / "strutil.cc", OWN / "re2_work.cc"]
        return files, ["-pthread", "-DNDEBUG", f"-I{source}"], ["-lpthread"]

    def _leveldb(self, source):
        put(self.made / "leveldb" / "port" / "port_config.h",
            "#define HAVE_FDATASYNC 1\n#define HAVE_FULLFSYNC 0\n#define HAVE_O_CLOEXEC 1\n"
            "#define HAVE_CRC32C 0\n#define HAVE_SNAPPY 0\n")
        files = [file for folder in ("db", "table", "util", "helpers/memenv")
                 for file in sorted((source / folder).glob("*.cc"))
                 if not any(word in file.stem for word in (
                     "_test", "testutil", "windows", "leveldbutil"))]
        return (files + [OWN / "leveldb_work.cc"],
                ["-std=c++11", "-fno-exceptions", "-fno-rtti", "-DNDEBUG", "-DLEVELDB_PLATFORM_POSIX=1",
                 "-DLEVELDB_COMPILE_LIBRARY", f"-I{self.made / 'leveldb'}", f"-I{source}",
                 f"-I{source / 'include'}"], ["-lpthread"])

    def _zopfli(self, source):
        return sorted((source / "src" / "zopfli").glob("*.c")), [], ["-lm"]

    def _mawk(self, source):
        made = self.made / "mawk"
        if not (made / "scancode.c").exists():
            made.mkdir(parents=True, exist_ok=True)
            subprocess.run([source / "configure"], cwd=made, check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["make", "scancode.c"], cwd=made, check=True, stdout=subprocess.DEVNULL)
        names = ("parse scan memory main hash execute code da error init bi_vars cast print bi_funct "
                 "kw jmp array field split re_cmpl regexp zmalloc fin files matherr fcall version")
        return [source / f"{name}.c" for name in names.split()] + [made / "scancode.c"], \
            ["-DHAVE_CONFIG_H", f"-I{made}", f"-I{source}"], ["-lm"]

    def _tidy(self, source):
        files = [file for file in sorted((source / "src").glob("*.c"))
                 if file.stem not in ("sprtf", "tagask")]
        return files + [source / "console" / "tidy.c"], \
            ['-DLIBTIDY_VERSION="5.6.0"', '-DRELEASE_DATE="2017/11/25"', "-DSUPPORT_UTF16_ENCODINGS=1",
             f"-I{source / 'include'}", f"-I{source / 'src'}"], []

    def _duktape(self, source):
        console = source / "extras" / "print-alert"
        return [source / "src" / "duktape.c", source / "examples" / "cmdline" / "duk_cmdline.c",
                console / "duk_print_alert.c"], \
            ["-DDUK_CMDLINE_PRINTALERT_SUPPORT", f"-I{source / 'src'}", f"-I{console}",
             f"-I{source / 'examples' / 'cmdline'}"], ["-lm"]

    def _part(self, text, scale):
        part = self.made / "zopfli" / f"text-{scale}"
        put(part, text.read_text(errors="replace")[:round(400000 * scale)])
        return part

    def _page(self, paragraphs):
        """A page without mistakes, of so many paragraphs."""
        page = self.made / "tidy" / f"page-{paragraphs}.html"
        text = "".join(f"<h2 id='s{i}'>Part {i}</h2><p class='c{i % 9}'>Some <b>words &amp; <i>more</i></b> "
                       f"and <a href='#s{i // 2}'>links</a>.</p><ul><li>one</li><li>two {i}</li></ul>\n"
                       for i in range(paragraphs))
        put(page, f"<!DOCTYPE html><html lang='en'><head><title>Page</title></head><body>{text}</body></html>")
        return page

    def arguments(self, name, scale, text, amalgamation):
        """text: a file of 3 MB. amalgamation: SQLite as one C file."""
        elements = max(1, round(60000 * scale))
        return {"zstd": ["-q", f"-{9 if scale >= 1 else 5}", "-c", text],
                "jq": ["-n", f"[range({elements})|{{a: ., b: (.*3|tostring)}}]|group_by(.a%7)|"
                             "map(map(.b|length)|add)"],
                "tcc": ["-c", "-w", "-nostdinc", f"-I{self.sources / 'tcc' / 'include'}",
                        "-I/usr/include", "-I/usr/include/x86_64-linux-gnu",
                        "-DSQLITE_THREADSAFE=0", "-o", self.made / "tcc" / "out.o", amalgamation],
                "redis": ["test", "listpack" if scale >= 1 else "sds"],
                "ninja": ["-C", self.made / "ninja" / "manifests", "-t", "targets", "all"],
                "re2": [text, str(max(1, round(3 * scale)))],
                "leveldb": [str(max(1000, round(60000 * scale)))],
                "zopfli": ["-c", "--i1", self._part(text, scale)],
                "mawk": ["{ for (i = 1; i <= NF; i++) n[$i]++; sub(/[a-z]+/, length($0)) }"
                         " END { for (w in n) t += n[w] * length(w); print t }"] +
                        [text] * max(1, round(2 * scale)),
                "tidy": ["-q", self._page(max(1, round(12000 * scale)))],
                "duktape": [OWN / "work.js"] * max(1, round(6 * scale))}[name]
