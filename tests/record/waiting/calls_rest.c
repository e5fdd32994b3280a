/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that can wait and seldom do, each with what it gives back: the same whether it is recorded
 * or not. Compiled as C and as C++. The arguments: a library that is beside another one, and the
 * name of that, which only the first finds. */
#include <aio.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>
#include <wchar.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* readdir_r */
#define OWN __attribute__((noinline))
#define SHOW(call)                                              \
    do {                                                        \
        errno = 0;                                              \
        long shown = (long)(call);                              \
        printf("%s: %ld, %s\n", #call, shown, strerror(errno)); \
    } while (0)

static OWN void folders(void)
{
    int found = 0, inside = 0;
    char buffer[4096];
    struct dirent64 *at64;
    struct dirent room, *at;
    if (mkdir("many", 0700) != 0)
        exit(1);
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "many/%d", i);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    SHOW(opendir("nowhere") == NULL);
    DIR *folder = opendir("many");
    while (readdir(folder) != NULL)
        found++;
    SHOW(found);
    SHOW(readdir(folder) == NULL); /* the end: errno stays */
    rewinddir(folder);
    for (found = 0; (at64 = readdir64(folder)) != NULL; found++)
        inside += at64->d_name[0] != '.';
    SHOW(found);
    SHOW(inside);
    rewinddir(folder);
    SHOW(readdir_r(folder, &room, &at) == 0 && at == &room);
    closedir(folder);
    int fd = open("many", O_RDONLY | O_DIRECTORY);
    SHOW(getdents64(fd, buffer, sizeof buffer) > 0);
    SHOW(getdents64(fd, buffer, 1)); /* EINVAL */
    SHOW(getdents64(-1, buffer, sizeof buffer));
    close(fd);
}

static OWN void files(void)
{
    struct stat about;
    int fd = open("file", O_CREAT | O_RDWR, 0600);
    SHOW(fallocate(fd, 0, 0, 5000));
    SHOW(fstat(fd, &about) == 0 ? about.st_size : -1);
    SHOW(fallocate(fd, 0, 0, -1)); /* EINVAL */
    SHOW(posix_fallocate(fd, 0, 6000));
    SHOW(posix_fallocate(-1, 0, 6000)); /* gives the error itself */
    SHOW(truncate("file", 100));
    SHOW(truncate("nowhere", 100));
    SHOW(truncate64("file", 50));
    SHOW(readahead(fd, 0, 100));
    SHOW(readahead(-1, 0, 100));
    SHOW(open_by_handle_at(-1, NULL, 0));
    int bytes = -1;
    SHOW(ioctl(fd, FIONREAD, &bytes));
    SHOW(bytes);
    SHOW(ioctl(fd, TIOCNOTTY));
    SHOW(ioctl(-1, FIONREAD, &bytes));
    SHOW(ioctl(fd, FIOCLEX));
    SHOW(fcntl(fd, F_GETFD));
    close(fd);
    SHOW(fopen("nowhere/at/all", "r") == NULL);
    FILE *stream = fopen("file", "w+");
    SHOW(stream != NULL);
    stream = freopen("file2", "w+", stream);
    SHOW(stream != NULL);
    SHOW(fputs("line\n", stream));
    SHOW(fseek(stream, 0, SEEK_SET));
    SHOW(fseeko(stream, -1, SEEK_SET)); /* EINVAL */
    char line[16] = "";
    SHOW(fgets(line, sizeof line, stream) == line);
    rewind(stream);
    SHOW(ftell(stream));
    SHOW(fclose(stream));
    SHOW(fopen64("file", "?") == NULL);
}

static OWN void descriptors(void)
{
    int counter = eventfd(0, EFD_NONBLOCK), ends[2];
    eventfd_t value = 0;
    SHOW(eventfd_write(counter, 7));
    SHOW(eventfd_read(counter, &value));
    SHOW(value);
    SHOW(eventfd_read(counter, &value)); /* EAGAIN */
    if (pipe(ends) != 0)
        exit(1);
    SHOW(dprintf(ends[1], "%d %s %g %.3Lf|", 5, "five", 5.5, 5.25L));
    SHOW(dprintf(-1, "%d", 5));
    char text[64] = "";
    SHOW(read(ends[0], text, sizeof text - 1));
    puts(text);
    SHOW(syscall(SYS_write, ends[1], "abc", 3));
    SHOW(syscall(SYS_read, ends[0], text, 3));
    SHOW(syscall(SYS_close, -1));
    SHOW(syscall(SYS_io_uring_enter, -1, 0, 0, 1, NULL, 0) == -1);
    SHOW(syscall(100000) == -1);
    struct aiocb one, *list[1] = {&one};
    memset(&one, 0, sizeof one);
    one.aio_fildes = ends[1];
    one.aio_buf = text;
    one.aio_nbytes = 3;
    one.aio_lio_opcode = LIO_WRITE;
    one.aio_sigevent.sigev_notify = SIGEV_NONE;
    SHOW(lio_listio(LIO_WAIT, list, 1, NULL));
    SHOW(aio_error(&one));
    SHOW(aio_return(&one));
    SHOW(lio_listio(77, list, 1, NULL)); /* EINVAL */
    SHOW(lio_listio(LIO_WAIT, list, 0, NULL));
    SHOW(aio_suspend(list, 1, NULL));
}

static OWN void streams(void)
{
    char line[64] = "";
    wchar_t wide[64] = L"";
    FILE *stream = tmpfile();
    SHOW(fputs_unlocked("one two\n", stream));
    SHOW(fputc_unlocked('x', stream));
    SHOW(putc_unlocked('\n', stream));
    SHOW(fwrite_unlocked("word", 1, 4, stream));
    SHOW(putw(77, stream));
    SHOW(fflush_unlocked(stream));
    rewind(stream);
    SHOW(fgets_unlocked(line, 5, stream) == line);
    puts(line);
    SHOW(getc_unlocked(stream));
    SHOW(fgetc_unlocked(stream));
    SHOW(fread_unlocked(line, 1, 6, stream));
    SHOW(fread_unlocked(line, 1, 3, stream));
    SHOW(getw(stream));
    SHOW(getw(stream)); /* the end */
    SHOW(fclose(stream));
    stream = tmpfile();
    SHOW(fwprintf(stream, L"%d %ls\n", 12, L"wide"));
    SHOW(fputws(L"more\n", stream));
    SHOW(fputwc(L'z', stream) == L'z');
    SHOW(putwc(L'\n', stream) == L'\n');
    rewind(stream);
    int number = 0;
    SHOW(fwscanf(stream, L"%d %63ls", &number, wide));
    printf("%d %ls\n", number, wide);
    SHOW(fgetwc(stream) == L'\n');
    SHOW(fgetws(wide, 64, stream) == wide);
    printf("%ls", wide);
    SHOW(getwc(stream) == L'z');
    SHOW(getwc(stream) == L'\n');
    SHOW(getwc(stream) == WEOF);
    SHOW(fclose(stream));
    errno = ENOENT;
    perror("told");
    syslog(LOG_DEBUG, "%s %d", "a line", 5);
}

static OWN void names(void)
{
    struct hostent room, *host = gethostbyname2("127.0.0.1", AF_INET), *found = NULL;
    char text[1024];
    int error = 0;
    struct in_addr address;
    SHOW(host != NULL && host->h_length == 4);
    SHOW(gethostbyname_r("127.0.0.2", &room, text, sizeof text, &found, &error));
    SHOW(found == &room);
    SHOW(gethostbyname_r("127.0.0.2", &room, text, 1, &found, &error)); /* ERANGE */
    SHOW(gethostbyname2_r("127.0.0.3", AF_INET, &room, text, sizeof text, &found, &error));
    address.s_addr = htonl(INADDR_LOOPBACK);
    SHOW(gethostbyaddr(&address, 1, AF_INET) == NULL); /* a wrong size */
    SHOW(gethostbyaddr_r(&address, 1, AF_INET, &room, text, sizeof text, &found, &error) != 0);
    struct gaicb one, *list[1] = {&one};
    memset(&one, 0, sizeof one);
    one.ar_name = "127.0.0.1";
    SHOW(getaddrinfo_a(GAI_WAIT, list, 1, NULL));
    SHOW(gai_error(&one));
    SHOW(gai_suspend(list, 1, NULL)); /* EAI_ALLDONE, or it is done */
    SHOW(getaddrinfo_a(77, list, 1, NULL));
    unsigned char answer[64];
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    SHOW(res_query(name, 1, 1, answer, sizeof answer)); /* no name */
    SHOW(res_querydomain(name, name, 1, 1, answer, sizeof answer));
}

static OWN void children(void)
{
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 4", NULL};
    char *nothing[] = {NULL};
    pid_t pid = 0;
    int status = 0;
    SHOW(posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, nothing));
    SHOW(waitpid(pid, &status, 0) == pid);
    SHOW(WEXITSTATUS(status));
    SHOW(posix_spawnp(&pid, "sh", NULL, NULL, arguments, nothing));
    SHOW(waitpid(pid, &status, 0) == pid);
    SHOW(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, arguments, nothing));
    FILE *stream = popen("exit 3", "r");
    SHOW(WEXITSTATUS(pclose(stream)));
    SHOW(popen("true", "?") == NULL);
}

/* The library asks for the one beside it, by its own path of search. */
static OWN void loading(const char *library, const char *beside)
{
    SHOW(dlopen(beside, RTLD_NOW) == NULL);
    dlerror();
    void *handle = dlopen(library, RTLD_NOW);
    SHOW(handle != NULL);
    void *symbol = handle != NULL ? dlsym(handle, "load_beside") : NULL;
    int (*load_beside)(const char *) = NULL;
    memcpy(&load_beside, &symbol, sizeof symbol);
    SHOW(load_beside != NULL ? load_beside(beside) : -1);
}

int main(int argc, char **argv)
{
    folders();
    files();
    descriptors();
    streams();
    names();
    children();
    if (argc > 2)
        loading(argv[1], argv[2]);
    return 0;
}
