/* SPDX-License-Identifier: Apache-2.0 */
/* The CGI protocol of src/serve/cgi as coded, one step a system call, with processes killed at any
 * step. Labels are those of src/serve/cgi/README.md.
 *
 *   N       CGI processes for one data file          PRE     a server runs at the start (0 or 1)
 *   KILLS   kills at any step of any process         TIMEOUTS  idle deadlines that pass
 *   QUIT    client 0 asks the server to end (0 or 1)
 *
 * Safety, in one run: P1 at most one serving process; P2 no client is blocked by a missing or dead
 * server; P3 an accepted answer is the client's own; P4 every client that is not killed ends, the
 * server is in its loop or gone. Liveness: P5 every client ends or was killed (weak fairness).
 *
 * Mutations, to see that the model can fail: MUTATION_INODE leaves out the check that a locked
 * file still has its name; MUTATION_LOCKED lets a waiting client look only whether the life lock
 * is held, not by whom. */

#ifndef N
#define N 2
#endif
#ifndef PRE
#define PRE 0
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1
#endif
#ifndef QUIT
#define QUIT 0
#endif

#define ATTEMPTS 3
#define SERVERS (N + PRE + KILLS + TIMEOUTS + 1)
#define FILES 10 /* inodes ever made under the two lock names */

/* Process numbers: clients 1..N, servers N+1... 0 is nobody. */
#define SERVER_PID(s) (N + 1 + (s))

byte file_count;          /* inodes made so far; their numbers begin at 1 */
byte lock[FILES];         /* inode -> process that holds its write lock */
byte instance[FILES];     /* inode of S.server -> instance id written, 0 = none */
byte mutex_name;          /* inode that the name means, 0 = no such name */
byte server_name;
byte query_name;          /* server that made the FIFO of that name, + 1; 0 = no such name */

bool reader[SERVERS];     /* the FIFO's ends are open */
chan query[SERVERS] = [N * ATTEMPTS] of { byte, byte, byte }; /* client, attempt, instance */
bool ready[SERVERS];
bool gone[SERVERS];
byte server_count;
byte serving;             /* processes between S5 and T3 */

bool want[N];             /* S.want.<token> */
bool client_dead[N];      /* its locks are gone */
bool client_done[N];
bool reply_there[N];      /* an answer stands in the reply FIFO */
byte reply_attempt[N];
byte reply_owner[N];

byte kills = KILLS;
byte timeouts = TIMEOUTS;

#define MAY_DIE_SERVING if :: atomic { kills > 0 -> kills-- }; goto killed_serving :: true -> skip fi
#define MAY_DIE if :: atomic { kills > 0 -> kills-- }; goto killed :: true -> skip fi

inline unlock_all(me)
{
    d_step {
        f = 0;
        do
        :: f < FILES -> if :: lock[f] == me -> lock[f] = 0 :: else -> skip fi; f++
        :: else -> break
        od;
        f = 0
    }
}

inline make_if_missing(name)
{
    if
    :: name == 0 -> file_count++; assert(file_count < FILES); name = file_count
    :: else -> skip
    fi
}

proctype Server(byte s)
{
    byte f = 0, life = 0, guard = 0, c = 0, attempt = 0, told = 0;
    bool wanted = false, quitting = false;

    /* S2 */
    atomic { make_if_missing(server_name); life = server_name }
    MAY_DIE;
    atomic {
        if
        :: lock[life] != 0 -> goto ended
        :: else -> lock[life] = SERVER_PID(s)
        fi
    }
    MAY_DIE;
#ifndef MUTATION_INODE
    if
    :: server_name != life -> goto ended
    :: else -> skip
    fi;
    MAY_DIE;
#endif
    /* S3 */
    instance[life] = s + 1;
    MAY_DIE;
    /* S4 */
    query_name = 0;
    MAY_DIE;
    reader[s] = true;
    MAY_DIE;
    query_name = s + 1;
    MAY_DIE;
    /* S5 */
    atomic { ready[s] = true; serving++; assert(serving <= 1) } /* P1 */

end_loop:
    do
    :: query[s]?c,attempt,told ->
        MAY_DIE_SERVING;
        if
        :: told != s + 1 -> skip                       /* for another life */
        :: told == s + 1 && !want[c] -> skip           /* nobody waits */
        :: told == s + 1 && want[c] ->
            MAY_DIE_SERVING;
            atomic {
                if
                :: !client_dead[c] ->
                    reply_owner[c] = c; reply_attempt[c] = attempt; reply_there[c] = true
                :: else -> skip                        /* ENXIO */
                fi
            };
            if
            :: QUIT && c == 0 -> quitting = true
            :: else -> skip
            fi
        fi;
        MAY_DIE_SERVING
    :: len(query[s]) == 0 && (quitting || timeouts > 0) ->   /* T0 */
        if
        :: !quitting -> timeouts--
        :: else -> skip
        fi;
        /* T1: one try */
        atomic { make_if_missing(mutex_name); guard = mutex_name };
        MAY_DIE_SERVING;
        if
        :: atomic { lock[guard] == 0 -> lock[guard] = SERVER_PID(s) }
        :: atomic { lock[guard] != 0 -> guard = 0 }
        fi;
        if
        :: guard == 0 -> goto end_loop
        :: else -> skip
        fi;
        MAY_DIE_SERVING;
#ifndef MUTATION_INODE
        if
        :: mutex_name != guard -> lock[guard] = 0; goto end_loop
        :: else -> skip
        fi;
#endif
        /* T2 */
        atomic {
            wanted = false; c = 0;
            do
            :: c < N -> wanted = wanted || (want[c] && !client_dead[c]); c++
            :: else -> break
            od;
            c = 0
        };
        MAY_DIE_SERVING;
        if
        :: len(query[s]) > 0 || (!quitting && wanted) -> lock[guard] = 0; goto end_loop
        :: else -> skip
        fi;
        /* T3 */
        atomic { query_name = 0; serving-- };
        MAY_DIE;
        server_name = 0; /* T4 */
        MAY_DIE;
        mutex_name = 0;  /* T5 */
        MAY_DIE;
        goto ended       /* T6: the kernel drops all locks */
    od;

killed_serving:
    serving--;
killed:
    skip;
ended:
    atomic { unlock_all(SERVER_PID(s)); reader[s] = false; gone[s] = true }
}

proctype Client(byte i)
{
    byte f = 0, guard = 0, life = 0, holder = 0, told = 0, attempt = 1, fifo = 0, child = 0;

    want[i] = true; /* C2, C3 */
    MAY_DIE;

try_mutex: /* C4 */
    atomic { make_if_missing(mutex_name); guard = mutex_name };
    MAY_DIE;
    atomic { lock[guard] == 0 -> lock[guard] = i + 1 };
    MAY_DIE;
#ifndef MUTATION_INODE
    if
    :: mutex_name != guard -> lock[guard] = 0; goto try_mutex
    :: else -> skip
    fi;
#endif
    /* C5 */
    life = server_name;
    MAY_DIE;
    if
    :: life == 0 -> goto load
    :: atomic { life != 0 && lock[life] == 0 -> goto load }
    :: atomic { life != 0 && lock[life] != 0 -> holder = lock[life] }
    fi;
    MAY_DIE;
    /* C6 */
    told = instance[life];
    fifo = query_name;
    MAY_DIE;
    if
    :: told == 0 || fifo == 0 || !reader[fifo - 1] -> lock[guard] = 0; goto wait_and_try
    :: else -> skip
    fi;
    MAY_DIE;
    atomic {
        if
        :: reader[fifo - 1] -> query[fifo - 1]!i,attempt,told
        :: else -> lock[guard] = 0; goto wait_and_try /* EPIPE */
        fi
    };
    MAY_DIE;
    lock[guard] = 0; /* C7 */
    MAY_DIE;
    if
    :: reply_there[i] -> skip
#ifdef MUTATION_LOCKED
    :: !reply_there[i] && lock[life] == 0 -> skip
#else
    :: !reply_there[i] && (lock[life] != holder || instance[life] != told) -> skip
#endif
    fi;
    MAY_DIE;
    atomic {
        if
        :: reply_there[i] && reply_attempt[i] == attempt ->
            assert(reply_owner[i] == i); /* P3 */
            goto done
        :: else ->                       /* lost with its server: a new FIFO, the next attempt */
            reply_there[i] = false;
            attempt++;
            if
            :: attempt > ATTEMPTS -> goto done /* an error page */
            :: else -> goto try_mutex
            fi
        fi
    };

wait_and_try: /* the server is just starting, or dying: back off */
    if
    :: server_name != life || query_name != fifo || lock[life] != holder ||
       instance[life] != told || (fifo != 0 && !reader[fifo - 1]) || server_name == 0 -> skip
    fi;
    goto try_mutex;

load: /* C9 */
    MAY_DIE;
    if
    :: QUIT && i == 0 -> lock[guard] = 0; goto done /* a quit starts no server */
    :: else -> skip
    fi;
    atomic { child = server_count; assert(child < SERVERS); server_count++; run Server(child) };
    MAY_DIE;
    (ready[child] || gone[child]);
    MAY_DIE;
    lock[guard] = 0;

done: /* C8 */
    MAY_DIE;
    want[i] = false;
    client_done[i] = true;
    goto over;
killed:
    client_dead[i] = true;
over:
    atomic { unlock_all(i + 1) }
}

init
{
    byte i = 0;
    atomic {
        if
        :: PRE -> server_count = 1; run Server(0)
        :: else -> skip
        fi
    };
    (!PRE || ready[0] || gone[0]);
    atomic {
        do
        :: i < N -> run Client(i); i++
        :: else -> break
        od
    }
}

#ifdef LIVENESS
ltl p5 {
    <> ((client_done[0] || client_dead[0])
#if N > 1
        && (client_done[1] || client_dead[1])
#endif
#if N > 2
        && (client_done[2] || client_dead[2])
#endif
    )
}
#endif
