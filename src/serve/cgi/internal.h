/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include <sys/stat.h>

#include "serve/cgi/cgi.h"
#include "serve/cgi/stop_point.h"

#define FM_CGI_PROTOCOL_VERSION 1
#define FM_CGI_HASH_DIGITS 24
#define FM_CGI_KEY_SIZE 50   /* two hashes of 24 hex digits and a dash, NUL */
#define FM_CGI_TOKEN_SIZE 41 /* 8 hex digits of the pid, 32 random ones, NUL */
#define FM_CGI_INSTANCE_SIZE 33
#define FM_CGI_FRAME_SIZE 64
#define FM_CGI_QUERY_BYTES_MAX (8u << 20)
#define FM_CGI_REPLY_BYTES_MAX (1u << 30)
#define FM_CGI_ATTEMPTS_MAX 3
#define FM_CGI_SLICE_MS 250
#define FM_CGI_READY_MS 10000
#define FM_CGI_BUSY_RETRY_MS 200
#define FM_CGI_EXHAUSTED_TEXT "No descriptor is left on this machine; reload the page."

/* --- clock.c --- */
/* Monotonic. All times here are compared with this clock only: in the test build a test can stop
 * and advance it (FATHOM_CLOCK). */
uint64_t fm_cgi_now_ms(void);
void fm_cgi_sleep_ms(uint64_t milliseconds);
/* Argument of poll() for the time until a deadline, at most limit_ms. The caller checks the clock
 * again and waits on, because the test build waits in slices. */
int fm_cgi_wait_ms(uint64_t deadline_ms, uint64_t limit_ms);

/* --- log.c --- */
/* in the runtime directory, unless another path is configured */
#define FM_CGI_LOG_NAME "cgi.log"
struct fm_cgi_log {
    int fd; /* -1 = no log */
    enum fm_cgi_log_level level;
    bool all_on_stderr;
};
void fm_cgi_log_init(struct fm_cgi_log *log, const struct fm_cgi_options *options);
/* Arguments as for openat(); no effect when a log is open. A file that cannot be opened, or is not
 * regular, is reported, and then there is no log. A log that is too long is truncated. */
void fm_cgi_log_open(struct fm_cgi_log *log, int dir_fd, const char *path);
/* Errors go to the standard error too. */
void fm_cgi_log(const struct fm_cgi_log *log, enum fm_cgi_log_level level, const char *format, ...)
    FM_PRINTF(3, 4);

/* --- descriptors.c --- */
/* Whether errno means that descriptors or memory ran out; then a failed open says nothing about the
 * file. */
bool fm_cgi_is_exhaustion(int error);
/* Whether a file could be opened now. */
bool fm_cgi_is_exhausted(void);

/* --- name.c: the names of the runtime directory --- */
/* The names in the directory, NULL on failure; caller unrefs. */
GPtrArray *fm_cgi_list_names(int dir_fd);
enum fm_cgi_name_kind {
    FM_CGI_NAME_FOREIGN, /* not the protocol's: never touched */
    FM_CGI_NAME_MUTEX,
    FM_CGI_NAME_SERVER,
    FM_CGI_NAME_QUERY,
    FM_CGI_NAME_NEW_QUERY, /* before it is renamed */
    FM_CGI_NAME_WANT,
    FM_CGI_NAME_NEW_WANT, /* before it is renamed */
    FM_CGI_NAME_REPLY,
};
enum fm_cgi_name_kind fm_cgi_name_kind(const char *name);
/* For a name that is not foreign. */
bool fm_cgi_name_has_key(const char *name, const char *key);
/* Whether the name still refers to the open file. */
bool fm_cgi_name_means(int dir_fd, const char *name, int fd);
void fm_cgi_unlink_same(int dir_fd, const char *name, int fd);
/* "a directory", ... */
const char *fm_cgi_file_kind(mode_t mode);
/* Describes a foreign file with that name, as "NAME: is a directory, expected a file"; NULL when
 * there is none, or it is this user's and of the expected type. The caller frees it. */
char *fm_cgi_describe_stranger(int dir_fd, const char *name, mode_t expected);

/* --- place.c: the runtime directory, and the names of one data file in it --- */
struct fm_cgi_place {
    int dir_fd;
    char *dir_path; /* absolute */
    char *data_path;
    struct fm_roots *roots; /* as in the options; borrowed */
    struct stat data;       /* as it was when the key was made */
    char *key;              /* "P-I": changes with the file, the program and the protocol */
    char *mutex_name;       /* KEY.mutex */
    char *server_name;      /* KEY.server */
    char *query_name;       /* KEY.query */
    char *want_prefix;      /* KEY.want. */
};
/* FM_ERROR_IO when the data file is missing; FM_ERROR_UNAVAILABLE when the directory cannot be
 * trusted or created: then the answer is made without a server. */
FM_MUST_USE bool fm_cgi_place_init(const struct fm_cgi_options *options,
                                   const struct fm_cgi_log *log, const char *data_path,
                                   struct fm_cgi_place *ret, GError **error);
/* False when the directory's path now leads to another folder, or to none, so that clients do not
 * find this server. */
bool fm_cgi_place_means_its_folder(const struct fm_cgi_place *place);
void fm_cgi_place_done(struct fm_cgi_place *place);
/* Whether the data file is unchanged since the place was made. */
bool fm_cgi_place_is_current(const struct fm_cgi_place *place);
/* KEY + suffix + token; the caller frees. */
char *fm_cgi_place_name(const struct fm_cgi_place *place, const char *suffix, const char *token);

/* --- lock.c: record locks; only locks count, never the existence of a name --- */
/* Opens and write-locks a file of the directory, waiting until the deadline (0 = one try). Returns
 * its descriptor, or -1: errno EAGAIN = another process holds it. Closing releases it. */
int fm_cgi_lock(int dir_fd, const char *name, uint64_t deadline_ms);
/* Locks an open file without waiting, and checks that the name still refers to it. */
bool fm_cgi_lock_fd(int dir_fd, const char *name, int fd);
/* Returns the process that holds a write lock on the file, 0 = none; never takes the lock. */
pid_t fm_cgi_lock_holder(int fd);
/* Opens a regular file or FIFO of this user, refusing links and foreign files. -1 and errno
 * otherwise. */
int fm_cgi_open_ours(int dir_fd, const char *name, int flags, mode_t type);

/* --- message.c --- */
enum fm_cgi_op {
    FM_CGI_OP_QUERY,
    FM_CGI_OP_QUIT,
    FM_CGI_OP_COMMAND, /* sent as a query, but loads nothing: the server handles it itself */
};
struct fm_cgi_frame {
    enum fm_cgi_op op;
    unsigned attempt;
    char token[FM_CGI_TOKEN_SIZE];
    uint64_t instance; /* first 8 bytes of the server's instance id */
};
void fm_cgi_frame_encode(const struct fm_cgi_frame *frame, uint8_t bytes[FM_CGI_FRAME_SIZE]);
bool fm_cgi_frame_decode(const uint8_t bytes[FM_CGI_FRAME_SIZE], struct fm_cgi_frame *ret);
void fm_cgi_make_token(char token[FM_CGI_TOKEN_SIZE]);
void fm_cgi_random(void *bytes, size_t size);

/* A request as the bytes of a want file: magic, length, checksum, text. */
GByteArray *fm_cgi_want_encode(const struct fm_request *request);
struct fm_cgi_request { /* owns its strings */
    struct fm_request request;
    GPtrArray *strings;
};
bool fm_cgi_want_decode(const uint8_t *bytes, size_t size, struct fm_cgi_request *ret);
void fm_cgi_request_done(struct fm_cgi_request *request);

/* A response as the bytes of a reply: magic, token, attempt, length, checksum; then the page. */
GByteArray *fm_cgi_reply_encode(const struct fm_response *response, const char *token,
                                unsigned attempt);
enum fm_cgi_reply_state { FM_CGI_REPLY_PARTIAL, FM_CGI_REPLY_COMPLETE, FM_CGI_REPLY_BAD };
enum fm_cgi_reply_state fm_cgi_reply_decode(const GByteArray *bytes, const char *token,
                                            unsigned attempt, struct fm_response *ret);

/* --- ending.c: a client that gets SIGTERM, SIGINT or SIGHUP --- */
/* From now on such a signal ends the process at once; a page on out_fd reports it if none was
 * begun. */
void fm_cgi_ending_begin(int out_fd);
/* Names to unlink then. The mutex is unlinked only while it is noted as held by this client, with
 * no server that needs it. */
void fm_cgi_ending_names(int dir_fd, const char *want, const char *new_want, const char *reply,
                         const char *mutex);
void fm_cgi_ending_note_mutex(bool held);
void fm_cgi_ending_note_printing(void);
/* As fork(); in the child the signals have their default effect. */
pid_t fm_cgi_ending_fork(void);

/* --- client.c --- */
struct fm_cgi_client {
    const struct fm_cgi_options *options;
    const struct fm_cgi_backend *backend;
    const struct fm_request *request;
    struct fm_cgi_place *place;
    struct fm_cgi_log *log;
    enum fm_cgi_op op;
    int out_fd;
    uint64_t deadline_ms;
    unsigned attempt;
    char token[FM_CGI_TOKEN_SIZE];
    char *want_name, *reply_name;
    int want_fd, reply_fd, mutex_fd; /* -1 = not open */
    int room_fd;                     /* -1 = not open */
    bool serverless;                 /* no server runs, and none has been started yet */
    bool stranger_told;
    unsigned without_status; /* status of a command when no server runs */
    const char *without_server;
};

/* --- client_end.c --- */
void fm_cgi_client_release_mutex(struct fm_cgi_client *client);
void fm_cgi_client_cleanup(struct fm_cgi_client *client); /* step C8, without printing */
/* Step C8: cleans up, prints, clears the response. Returns the exit status. */
int fm_cgi_client_finish(struct fm_cgi_client *client, struct fm_response *response);

/* --- loader.c: step C9, for a client that finds no server; the mutex is held --- */
int fm_cgi_load_and_serve(struct fm_cgi_client *client);
/* Step C9': makes the complete page without a server. */
int fm_cgi_answer_alone(struct fm_cgi_client *client);

/* --- server.c --- */
/* Steps S2 to T6. ready is called once, when queries are accepted (S5). Returns when the server has
 * ended; false when it could not start. */
bool fm_cgi_serve(const struct fm_cgi_options *options, const struct fm_cgi_backend *backend,
                  struct fm_cgi_place *place, struct fm_cgi_log *log, void (*ready)(void *user),
                  void *user);

/* --- census.c --- */
#define FM_CGI_SERVERS_MAX 32
#define FM_CGI_ANSWERED "answered " /* last line of KEY.server: 20 digits, monotonic ms */
/* Ends all servers of the data file's path, of any build; waits a little for each. Returns their
 * number. */
unsigned fm_cgi_end_path(const struct fm_cgi_place *place);
/* Call before a server is forked: checks the limits of number and memory, and ends idle servers if
 * necessary. On true, others wait until fm_cgi_room_give(), so that they count this server. */
FM_MUST_USE bool fm_cgi_room_take(const struct fm_cgi_place *place,
                                  const struct fm_cgi_options *options,
                                  const struct fm_cgi_log *log, int *ret_fd);
void fm_cgi_room_give(int fd);
/* For a server that has read its file: ends the most idle other one if all together take too much
 * memory. False when it exceeds the limit by itself. */
FM_MUST_USE bool fm_cgi_room_keep(const struct fm_cgi_place *place,
                                  const struct fm_cgi_options *options,
                                  const struct fm_cgi_log *log);

/* --- cleanup.c --- */
/* Unlinks want files (and their reply FIFOs) of dead clients of this key. Returns whether a live
 * client waits for an answer. */
bool fm_cgi_cleanup_wants(struct fm_cgi_place *place);
/* Unlinks query FIFOs of earlier servers, finished or not; the life lock is held. */
void fm_cgi_cleanup_query_fifos(struct fm_cgi_place *place);
/* Removes files of other keys that have been unused for more than a day. */
void fm_cgi_cleanup_strangers(struct fm_cgi_place *place);
