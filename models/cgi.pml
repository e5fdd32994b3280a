/* SPDX-License-Identifier: Apache-2.0 */
/* The CGI protocol of src/serve/cgi as coded, one step a system call, with processes killed at any
 * step. Labels are those of src/serve/cgi/README.md.
 *
 *   N       CGI processes for one data file          PRE     a server runs at the start (0 or 1)
 *   KILLS   kills at any step of any process         TIMEOUTS  idle deadlines that pass
 *   QUIT    client 0 asks the server to end (0 or 1)
 *
 *   TOLD    a kill may be a signal instead: a client unlinks its names, a server ends (0 or 1)
 *   FAULTS  failures of loading, forking, writing S.server, making the FIFO
 *   SWEEP   another key's server takes our names for old, at any time (0 or 1)
 *
 * Safety, in one run: P1 at most one serving process; P2 no client is blocked by a missing or dead
 * server; P3 an accepted answer is the client's own; P4 every client that is not killed ends, the
 * server is in its loop or gone; P6 one load, and one more only for each death, end or failure;
 * P7 a client runs out of attempts only if that many servers went away; P8 when all is over and
 * nobody was killed, no name is left. Liveness (weak fairness): P5 every client ends or was killed;
 * P9 a server that is to end does.
 *
 * Mutations (MUTATION_...), to see that the model can fail: README.md. */

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

#ifndef TOLD
#define TOLD 0
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#ifndef SWEEP
#define SWEEP 0
#endif

#define ATTEMPTS 3
#define SERVERS (N + PRE + KILLS + TIMEOUTS + FAULTS + 1)
#define FILES 16 /* inodes ever made under the two lock names */

/* Process numbers: clients 1..N, the sweeper N+1, servers N+2... 0 is nobody. */
#define SWEEPER_PID (N + 1)
#define SERVER_PID(s) (N + 2 + (s))

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
byte faults = FAULTS;
byte loads;
byte ends;                /* servers that gave up their life or never began one, but for those killed */
bool sweeper_over = !SWEEP;
bool to_end[SERVERS];     /* was told, or asked, or cannot be found */

#define FAILS faults > 0 -> faults--

#define MAY_DIE_SERVING if :: atomic { kills > 0 -> kills-- }; goto killed_serving :: true -> skip fi
#define MAY_DIE if :: atomic { kills > 0 -> kills-- }; goto killed :: true -> skip fi
/* A signal is heeded at any step, as a kill is. */
#define MAY_DIE_OR_BE_TOLD if :: atomic { kills > 0 -> kills-- }; goto killed :: atomic { TOLD && kills > 0 -> kills-- }; goto signalled :: true -> skip fi

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
    bool wanted = false, quitting = false, signalled_end = false;

    /* S2 */
    atomic { make_if_missing(server_name); life = server_name }
    MAY_DIE;
#ifndef MUTATION_NO_LIFE_LOCK
    atomic {
        if
#ifdef MUTATION_LOSER_UNLINKS
        :: lock[life] != 0 -> server_name = 0; ends++; goto ended
#else
        :: lock[life] != 0 -> ends++; goto ended
#endif
        :: else -> lock[life] = SERVER_PID(s)
        fi
    }
    MAY_DIE;
#endif
#ifndef MUTATION_INODE
    if
    :: atomic { server_name != life -> ends++; goto ended }
    :: else -> skip
    fi;
    MAY_DIE;
#endif
    /* S3 */
    if
    :: atomic { FAILS; ends++ }; goto failed
    :: instance[life] = s + 1
    fi;
    MAY_DIE;
    /* S4 */
    query_name = 0;
    MAY_DIE;
    reader[s] = true;
    MAY_DIE;
    if
    :: atomic { FAILS; ends++ }; goto failed
    :: query_name = s + 1
    fi;
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
            :: QUIT && c == 0 -> quitting = true; to_end[s] = true
            :: else -> skip
            fi
        fi;
        MAY_DIE_SERVING
    :: atomic { TOLD && kills > 0 && !quitting -> kills--; quitting = true; signalled_end = true;
                to_end[s] = true }
    :: atomic { !quitting && (server_name != life || query_name != s + 1) -> /* nobody finds us */
                quitting = true; to_end[s] = true }
    :: len(query[s]) == 0 && (quitting || timeouts > 0) ->   /* T0 */
        if
        :: !quitting -> timeouts--
        :: else -> skip
        fi;
        /* T1: one try; who was told by a signal does not wait for whoever has the mutex */
        atomic { make_if_missing(mutex_name); guard = mutex_name };
        MAY_DIE_SERVING;
        if
        :: atomic { lock[guard] == 0 -> lock[guard] = SERVER_PID(s) }
        :: atomic { lock[guard] != 0 -> guard = 0 }
        fi;
        if
        :: guard == 0 && signalled_end -> goto unlink_names
        :: guard == 0 && !signalled_end -> goto end_loop
        :: else -> skip
        fi;
        MAY_DIE_SERVING;
#ifndef MUTATION_INODE
        if
        :: mutex_name != guard -> lock[guard] = 0; goto end_loop
        :: else -> skip
        fi;
#endif
        /* T2: a look at each want file; those of the dead go */
        wanted = false;
        c = 0;
        do
        :: c < N ->
            if
            :: !want[c] -> skip
            :: want[c] && client_dead[c] -> MAY_DIE_SERVING; want[c] = false
#ifdef MUTATION_SWEEP_LIVING
            :: want[c] && !client_dead[c] -> want[c] = false
#else
            :: want[c] && !client_dead[c] -> wanted = true
#endif
            fi;
            c++
        :: else -> break
        od;
        c = 0;
        MAY_DIE_SERVING;
#ifdef MUTATION_NO_QUEUE_CHECK
        if
        :: !quitting && wanted -> lock[guard] = 0; goto end_loop
        :: else -> skip
        fi;
#else
#ifdef MUTATION_NO_WANT_CHECK
        wanted = false;
#endif
        if
        :: len(query[s]) > 0 || (!quitting && wanted) ->
#ifndef MUTATION_ABORT_KEEPS_MUTEX
            lock[guard] = 0;
#endif
            goto end_loop
        :: else -> skip
        fi;
#endif
#ifdef MUTATION_MUTEX_FIRST
        mutex_name = 0;
        MAY_DIE_SERVING;
#endif
#ifdef MUTATION_RELEASE_FIRST
        lock[guard] = 0;
        MAY_DIE_SERVING;
#endif
unlink_names:
        /* T3, T4: only what still means our own */
        atomic {
            if
            :: query_name == s + 1 -> query_name = 0
            :: else -> skip
            fi;
            serving--;
            ends++
        };
        MAY_DIE;
        atomic {
            if
            :: server_name == life -> server_name = 0
            :: else -> skip
            fi
        };
        MAY_DIE;
        if
        :: guard != 0 ->
            mutex_name = 0  /* T5 */
        :: else -> skip     /* as if killed: each client notices */
        fi;
        MAY_DIE;
        goto ended       /* T6: the kernel drops all locks */
    od;

killed_serving:
    serving--;
killed:
    skip;
    goto ended;
failed: /* the child unlinks its S.server, the lock held */
    server_name = 0;
ended:
    atomic { unlock_all(SERVER_PID(s)); reader[s] = false; gone[s] = true }
}

/* The server of another file, which takes our names for old at any time: a real one looks at their
 * age first. It holds both locks while it unlinks. */
proctype Sweeper()
{
    byte f = 0, guard = 0, life = 0, c = 0;
    bool wanted = false;

#ifndef MUTATION_SWEEP_NO_MUTEX
    atomic { make_if_missing(mutex_name); guard = mutex_name };
    atomic {
        if
        :: lock[guard] != 0 -> guard = 0
        :: else -> lock[guard] = SWEEPER_PID
        fi
    };
    if
    :: guard == 0 -> goto over
    :: guard != 0 && mutex_name != guard -> goto over
    :: else -> skip
    fi;
#endif
    do
    :: c < N -> wanted = wanted || (want[c] && !client_dead[c]); c++
    :: else -> break
    od;
    if
    :: wanted -> goto over
    :: else -> skip
    fi;
#ifdef MUTATION_SWEEP_PROBES
    life = server_name;
    if
    :: life != 0 && lock[life] != 0 -> goto over
    :: else -> skip
    fi;
#else
    atomic { make_if_missing(server_name); life = server_name };
    atomic {
        if
        :: lock[life] != 0 -> goto over
        :: else -> lock[life] = SWEEPER_PID
        fi
    };
    if
    :: server_name != life -> goto over
    :: else -> skip
    fi;
#endif
    query_name = 0;
    server_name = 0;
#ifndef MUTATION_SWEEP_NO_MUTEX
    mutex_name = 0;
#endif
over:
    atomic { unlock_all(SWEEPER_PID); sweeper_over = true }
}

proctype Client(byte i)
{
    byte f = 0, guard = 0, life = 0, holder = 0, told = 0, attempt = 1, fifo = 0, child = 0;
    bool serverless = false;

    want[i] = true; /* C2, C3 */
    MAY_DIE_OR_BE_TOLD;

try_mutex: /* C4 */
    atomic { make_if_missing(mutex_name); guard = mutex_name };
    MAY_DIE_OR_BE_TOLD;
    atomic { lock[guard] == 0 -> lock[guard] = i + 1 };
    MAY_DIE_OR_BE_TOLD;
#ifndef MUTATION_INODE
    if
    :: mutex_name != guard -> lock[guard] = 0; goto try_mutex
    :: else -> skip
    fi;
#endif
    /* C5 */
    life = server_name;
    MAY_DIE_OR_BE_TOLD;
    if
    :: life == 0 -> goto load
    :: atomic { life != 0 && lock[life] == 0 -> goto load }
    :: atomic { life != 0 && lock[life] != 0 -> holder = lock[life] }
    fi;
    MAY_DIE_OR_BE_TOLD;
    /* C6 */
    told = instance[life];
    fifo = query_name;
    MAY_DIE_OR_BE_TOLD;
    if
    :: told == 0 || fifo == 0 || !reader[fifo - 1] -> lock[guard] = 0; goto wait_and_try
    :: else -> skip
    fi;
    MAY_DIE_OR_BE_TOLD;
    atomic {
        if
        :: reader[fifo - 1] -> query[fifo - 1]!i,attempt,told
        :: else -> lock[guard] = 0; goto wait_and_try /* EPIPE */
        fi
    };
    MAY_DIE_OR_BE_TOLD;
    lock[guard] = 0; /* C7 */
    MAY_DIE_OR_BE_TOLD;
    if
    :: reply_there[i] -> skip
#ifdef MUTATION_LOCKED
    :: !reply_there[i] && lock[life] == 0 -> skip
#else
    :: !reply_there[i] && (lock[life] != holder || instance[life] != told) -> skip
#endif
    fi;
    MAY_DIE_OR_BE_TOLD;
    atomic {
        if
        :: reply_there[i] && reply_attempt[i] == attempt ->
            assert(reply_owner[i] == i); /* P3 */
            goto done
        :: else ->                       /* lost with its server: a new FIFO, the next attempt */
            reply_there[i] = false;
            attempt++;
            if
            :: attempt > ATTEMPTS -> /* an error page */
                assert(ends + (KILLS - kills) >= ATTEMPTS); /* P7 */
                goto done
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

load: /* C9; who ends now takes the mutex along */
    serverless = true;
    MAY_DIE_OR_BE_TOLD;
    if
    :: QUIT && i == 0 -> goto release /* a quit starts no server */
    :: else -> skip
    fi;
    atomic { loads++; assert(loads <= 1 - PRE + (KILLS - kills) + ends) }; /* P6 */
    if
    :: atomic { FAILS; ends++ } -> goto release /* the page alone */
    :: true -> skip
    fi;
    atomic { child = server_count; assert(child < SERVERS); server_count++; run Server(child) };
    MAY_DIE_OR_BE_TOLD;
#ifndef MUTATION_RELEASE_EARLY
    (ready[child] || gone[child]);
    serverless = !ready[child];
    MAY_DIE_OR_BE_TOLD;
#else
    serverless = false;
#endif

release:
#ifdef MUTATION_UNLINK_UNHELD
    lock[guard] = 0;
    MAY_DIE_OR_BE_TOLD;
#endif
    if
    :: serverless -> mutex_name = 0
    :: else -> skip
    fi;
    MAY_DIE_OR_BE_TOLD;
    serverless = false;
    lock[guard] = 0;

done: /* C8 */
    MAY_DIE_OR_BE_TOLD;
    want[i] = false;
    client_done[i] = true;
    goto over;
signalled: /* the handler: our names, and the mutex if it is of use to nobody */
    want[i] = false;
    if
    :: serverless -> mutex_name = 0
    :: else -> skip
    fi;
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
        od;
        if
        :: SWEEP -> run Sweeper()
        :: else -> skip
        fi
    };
    /* All that ever ran is over; a server may live for ever. */
end_all:
    (_nr_pr == 1);
    /* P8 */
    assert(kills < KILLS || (mutex_name == 0 && server_name == 0 && query_name == 0));
    i = 0;
    do
    :: i < N -> assert(kills < KILLS || !want[i]); i++
    :: else -> break
    od
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

#ifdef ENDING
ltl p9 { [] ((to_end[0] -> <> gone[0]) && (to_end[1] -> <> gone[1])) }
#endif
