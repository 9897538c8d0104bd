/*
 * SPIN model of puts with signals over planes that fail and come back: docs/decisions/one-sided.md on the failover
 * protocol of docs/failover.md. One peer writes to another. Operations are numbered; each has some chunks, perhaps a
 * signal, and a context. Planes, fences and the control channel are those of failover.pml, which describes them.
 * Credits take the place of clear-to-send entries, and a window of operations that of open groups.
 *
 * Chunk 0 of an operation brings its record, whose slot in the target's ring is number % SLOTS. The target writes the
 * number of finished operations into the initiator's memory: the credit, with one write in flight at a time.
 *
 * Required properties:
 *   1. a signal is applied when its operation's chunks have all landed; a strong one when also every earlier operation of
 *      its context has landed and its signal was applied (assertions in apply);
 *   2. a signal is applied once (assertion in apply), by its own record (likewise);
 *   3. no chunk lands after its operation was finished, when its bytes may have another owner (assertion in land);
 *   4. a put is done only when no queue pair can read its source any more (assertion in put_done);
 *   5. a peer's message never contradicts an end's own state (assertions in judge and at every message);
 *   6. the connection errs only after as many failures as there are planes (assertion in give_up);
 *   7. every operation is finished, and its signal applied, or the connection errs (the last assertions), and every run
 *      ends (no invalid end states, no cycles).
 *
 * OneSidedModelTest runs it, and checks that each way of breaking the protocol is found. Gets are left out: the target
 * keeps no state of them, so a get's chunk of a fenced plane is read again.
 */

#ifndef PLANES
#define PLANES 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 2
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FAILURES
#define FAILURES 1
#endif
#ifndef RETURNS
#define RETURNS 0
#endif
/* Bit i for operation i. */
#ifndef SECOND_CONTEXT
#define SECOND_CONTEXT 0 /* operations outside the first context */
#endif
#ifndef SIGNALS
#define SIGNALS 7
#endif
#ifndef STRONG
#define STRONG 7
#endif

#define ALL_OF(k) (((1 << CHUNKS) - 1) << ((k) * CHUNKS))
#define RECORD_OF(k) (1 << ((k) * CHUNKS))
#define EVERYTHING ((1 << (OPERATIONS * CHUNKS)) - 1)
#define EVERY_OPERATION ((1 << OPERATIONS) - 1)
#define FIRST_OF(set) ((set) & (0 - (set)))
#define is_of(k, set) (((set) >> (k)) & 1)
#define NOBODY 255

mtype = {UP, FENCING, FENCED, DOWN, OPENING, PROBING};
mtype = {PlaneDown, Fenced, PlaneUp, PlaneReady};

/* Messages of an end: type, plane, epoch; the target's Fenced also: oldest, arrivals. */
chan to_target = [4 * PLANES] of {mtype, byte, byte};
chan to_initiator = [4 * PLANES] of {mtype, byte, byte, byte, byte};

#define GONE 0
#define SILENT 1
#define WELL 2
byte link[PLANES] = WELL;
byte failures, returns;
byte data_under_way[PLANES]; /* chunks */
byte credit_under_way[PLANES]; /* its value; 0 for none */

/* The initiator. */
mtype s_state[PLANES] = UP;
byte s_epoch[PLANES];
byte credit; /* in its memory, as written last */
byte credit_seen;
byte s_next; /* operations that were begun */
byte to_be_posted, acknowledged;
byte outstanding[PLANES];
bool kept[PLANES];
byte kept_oldest[PLANES], kept_arrivals[PLANES];

/* The target. */
mtype r_state[PLANES] = UP;
byte r_epoch[PLANES];
byte ring[SLOTS]; /* number + 1 of the operation whose record lies there */
byte landed;
byte completions[PLANES];
byte arrived;
byte finished, applied; /* operations */
byte oldest; /* every operation before it is finished */
byte credit_said; /* the last posted value that wasn't lost since */
byte credit_on = NOBODY; /* the plane of the unacknowledged write */
bool r_kept[PLANES];

bool failed;

hidden byte bits, i, j, e, o, a;
hidden mtype what;

#define in_use(state) (state == UP || state == OPENING || state == PROBING)
#define s_posts(p) (s_state[p] == UP)
#define s_takes_credit(p) (s_state[p] == UP || s_state[p] == PROBING)
#ifdef FENCE_WITHOUT_ERROR
#define r_takes_chunks(p) true
#else
#define r_takes_chunks(p) (r_state[p] == UP || r_state[p] == OPENING)
#endif
#define is_dead(state) (state == FENCING || state == FENCED)
#define unanswered(p) (s_epoch[p] == r_epoch[p] && (is_dead(s_state[p]) || is_dead(r_state[p])))
#define answers(p) (link[p] == WELL && in_use(s_state[p]) && in_use(r_state[p]) && s_epoch[p] == r_epoch[p])
#if PLANES == 2
#define PEER_IS_HEARD (answers(0) || answers(1))
#else
#define PEER_IS_HEARD (answers(0) || answers(1) || answers(2))
#endif
#define is_lost(p) (link[p] == GONE || (link[p] == SILENT || unanswered(p)) && PEER_IS_HEARD)
#define s_finished (failed || acknowledged == EVERYTHING)
#define r_finished (failed || finished == EVERY_OPERATION)

/* --- the initiator ---------------------------------------------------------------------------------------------- */

inline acknowledge(set) {
  acknowledged = acknowledged | set;
  for (i : 0 .. OPERATIONS - 1) {
    if
    :: (set & ALL_OF(i)) && (acknowledged & ALL_OF(i)) == ALL_OF(i) -> put_done(i)
    :: else
    fi
  }
}

inline put_done(k) {
#ifndef SOURCE_UNWATCHED
  for (j : 0 .. PLANES - 1) {
    assert(!(s_posts(j) && (outstanding[j] & ALL_OF(k))))
  }
#else
  skip
#endif
}

inline s_begin_fence() {
  s_state[p] = FENCING;
  credit_under_way[p] = 0
}

inline judge() {
  assert(kept_oldest[p] <= s_next);
  assert(!(kept_arrivals[p] & to_be_posted));
  for (i : 0 .. OPERATIONS - 1) {
    assert(i < s_next || !(kept_arrivals[p] & ALL_OF(i)))
  }
}

inline s_settle() {
  judge();
  bits = kept_arrivals[p];
  for (i : 0 .. OPERATIONS - 1) {
    if
    :: i < kept_oldest[p] -> bits = bits | ALL_OF(i)
    :: else
    fi
  }
  bits = bits & outstanding[p];
#ifndef REPLAY_BEFORE_FENCE
  to_be_posted = to_be_posted | (outstanding[p] & ~bits);
#endif
  outstanding[p] = 0;
  s_state[p] = DOWN;
  kept[p] = false;
  kept_oldest[p] = 0;
  kept_arrivals[p] = 0;
  acknowledge(bits)
}

proctype initiator_plane(byte p) {
end:
  do
  :: d_step {
       !failed && s_posts(p) && to_be_posted ->
       bits = FIRST_OF(to_be_posted);
       to_be_posted = to_be_posted & ~bits;
       outstanding[p] = outstanding[p] | bits;
       if
       :: r_takes_chunks(p) -> data_under_way[p] = data_under_way[p] | bits
       :: else
       fi
     }

  :: d_step {
       !failed && (s_posts(p) && link[p] != SILENT || s_state[p] == FENCING) && (outstanding[p] & landed) ->
       bits = FIRST_OF(outstanding[p] & landed);
       outstanding[p] = outstanding[p] & ~bits;
       acknowledge(bits);
       skip
     }

  :: d_step {
       !failed && in_use(s_state[p]) && is_lost(p) ->
       to_target ! PlaneDown(p, s_epoch[p]);
       s_begin_fence()
     }

  :: d_step {
       !failed && s_state[p] == FENCING ->
       to_target ! Fenced(p, s_epoch[p]);
       s_state[p] = FENCED;
#ifdef REPLAY_BEFORE_FENCE
       to_be_posted = to_be_posted | outstanding[p];
#endif
       if
       :: kept[p] -> s_settle()
       :: else
       fi;
       skip
     }

  :: d_step {
       !failed && s_state[p] == DOWN && link[p] == WELL ->
       s_epoch[p]++;
       to_target ! PlaneUp(p, s_epoch[p]);
       s_state[p] = OPENING
     }

  :: d_step {
       !failed && s_state[p] == PROBING && r_takes_chunks(p) && link[p] != SILENT ->
       to_target ! PlaneReady(p, s_epoch[p]);
       s_state[p] = UP
     }
  od
}

/* Number of operations that may begin. */
#ifdef CREDIT_BY_ACKNOWLEDGEMENT
#define may_begin(k) (k < SLOTS || (acknowledged & ALL_OF(k - SLOTS)) == ALL_OF(k - SLOTS))
#else
#define may_begin(k) (k < credit_seen + SLOTS)
#endif

proctype initiator() {
  byte p;
end:
  do
  /* iput: posted at once, or when the window has room. */
  :: d_step {
       !failed && s_next < OPERATIONS && may_begin(s_next) ->
       to_be_posted = to_be_posted | ALL_OF(s_next);
       s_next++
     }

  :: d_step { !failed && credit > credit_seen -> credit_seen = credit }

  :: d_step {
       !failed && nempty(to_initiator) ->
       to_initiator ? what, p, e, o, a;
       assert(e == s_epoch[p] && s_state[p] != DOWN);
       if
       :: what == Fenced ->
          assert(!kept[p]);
          kept[p] = true;
          kept_oldest[p] = o;
          kept_arrivals[p] = a;
          if
          :: in_use(s_state[p]) -> s_begin_fence()
          :: s_state[p] == FENCED -> s_settle()
          :: else
          fi
       :: what == PlaneDown ->
          if
          :: in_use(s_state[p]) -> s_begin_fence()
          :: else
          fi
       :: what == PlaneUp ->
          assert(s_state[p] == OPENING || s_state[p] == FENCING || s_state[p] == FENCED);
          if
          :: s_state[p] == OPENING -> s_state[p] = PROBING
          :: else
          fi
       :: else -> assert(false)
       fi;
       p = 0
     }
  od
}

/* --- the target ------------------------------------------------------------------------------------------------- */

/* Whether an earlier operation of the same context is unfinished. The scratch is the caller's. */
#ifdef STRONG_BY_OWN_PUT
#define is_next(k) true
#else
#define is_next(k) \
  (!is_of(k, STRONG) || \
   !(((1 << (k)) - 1) & ~finished & (is_of(k, SECOND_CONTEXT) -> SECOND_CONTEXT : ~SECOND_CONTEXT)))
#endif
#ifdef SIGNAL_WITH_RECORD
#define is_whole(k) (arrived & RECORD_OF(k))
#else
#define is_whole(k) ((arrived & ALL_OF(k)) == ALL_OF(k))
#endif

/* A reader that sees the signal now reads the data. */
inline apply(k) {
  if
  :: is_of(k, SIGNALS) ->
     assert(!is_of(k, applied));
     assert(ring[k % SLOTS] == k + 1);
     assert((landed & ALL_OF(k)) == ALL_OF(k));
     for (j : 0 .. OPERATIONS - 1) {
       if
       :: j < k && is_of(k, STRONG) && is_of(j, SECOND_CONTEXT) == is_of(k, SECOND_CONTEXT) ->
          assert((landed & ALL_OF(j)) == ALL_OF(j));
          assert(!is_of(j, SIGNALS) || is_of(j, applied))
       :: else
       fi
     }
     applied = applied | (1 << k)
  :: else
  fi
}

#define is_ready(k) (!is_of(k, finished) && is_whole(k) && is_next(k))

inline finish(k) {
  apply(k);
  finished = finished | (1 << k)
}

/* Completions are polled, chunks counted once, signals applied in the order of their contexts. */
inline take_completions() {
  arrived = arrived | completions[p];
  completions[p] = 0;
#ifndef SIGNALS_LATER
  for (i : 0 .. OPERATIONS - 1) {
    if
    :: is_ready(i) -> finish(i)
    :: else
    fi
  }
#endif
  move_oldest()
}

inline move_oldest() {
  for (i : 0 .. OPERATIONS - 1) {
    if
    :: i == oldest && is_of(i, finished) -> oldest++
    :: else
    fi
  }
}

/* The adapter has added a signal to a word in device memory, some time after all chunks have come. */
#ifdef SIGNALS_LATER
#define SIGNAL_IS_ADDED(k) :: d_step { !failed && k < OPERATIONS && is_ready(k) -> finish(k); move_oldest(); skip }
#endif

#ifdef FENCED_WITHOUT_ARRIVALS
#define OPEN_ARRIVALS 0
#else
#define OPEN_ARRIVALS (arrived >> (oldest * CHUNKS) << (oldest * CHUNKS))
#endif

inline r_begin_fence() {
  r_state[p] = FENCING;
#ifndef FENCE_WITHOUT_ERROR
  data_under_way[p] = 0
#endif
}

inline r_settle() {
#ifndef CREDIT_NOT_SAID_AGAIN
  if
  :: credit_on == p -> credit_on = NOBODY; credit_said = 0
  :: else
  fi;
#else
  credit_on = (credit_on == p -> NOBODY : credit_on);
#endif
  r_kept[p] = false;
  r_state[p] = DOWN
}

#ifdef CREDITS_OVERTAKE
#define credit_is_quiet true
#else
#define credit_is_quiet (credit_on == NOBODY)
#endif

proctype target_plane(byte p) {
end:
  do
  :: d_step {
       !failed && r_state[p] == UP && credit_said < oldest && credit_is_quiet ->
       credit_said = oldest;
       credit_on = p;
       if
       :: s_takes_credit(p) -> credit_under_way[p] = oldest
       :: else
       fi
     }

  :: d_step { !failed && r_state[p] != FENCED && completions[p] -> take_completions(); skip }

  :: d_step {
       !failed && in_use(r_state[p]) && is_lost(p) ->
       to_initiator ! PlaneDown(p, r_epoch[p], 0, 0);
       r_begin_fence()
     }

  :: d_step {
       !failed && r_state[p] == FENCING ->
#ifndef FENCE_WITHOUT_COMPLETIONS
       take_completions();
#endif
       to_initiator ! Fenced(p, r_epoch[p], oldest, OPEN_ARRIVALS);
       r_state[p] = FENCED;
       if
       :: r_kept[p] -> r_settle()
       :: else
       fi;
       skip
     }
  od
}

proctype target() {
  byte p;
end:
  do
#ifdef SIGNALS_LATER
  SIGNAL_IS_ADDED(0)
  SIGNAL_IS_ADDED(1)
  SIGNAL_IS_ADDED(2)
#endif
  :: d_step {
       !failed && nempty(to_target) ->
       to_target ? what, p, e;
       if
       :: what == PlaneUp ->
          assert(r_state[p] == DOWN && e == r_epoch[p] + 1);
          r_epoch[p] = e;
          if
          :: link[p] == WELL ->
             to_initiator ! PlaneUp(p, e, 0, 0);
             r_state[p] = OPENING
          :: else ->
             to_initiator ! PlaneDown(p, e, 0, 0);
             to_initiator ! Fenced(p, e, oldest, OPEN_ARRIVALS);
             r_state[p] = FENCED
          fi
       :: else ->
          assert(e == r_epoch[p] && r_state[p] != DOWN);
          if
          :: what == Fenced ->
             assert(!r_kept[p]);
             r_kept[p] = true;
             if
             :: in_use(r_state[p]) -> r_begin_fence()
             :: r_state[p] == FENCED -> r_settle()
             :: else
             fi
          :: what == PlaneDown ->
             if
             :: in_use(r_state[p]) -> r_begin_fence()
             :: else
             fi
          :: what == PlaneReady ->
             assert(r_state[p] == OPENING || r_state[p] == FENCING || r_state[p] == FENCED);
             if
             :: r_state[p] == OPENING -> r_state[p] = UP
             :: else
             fi
          fi
       fi;
       p = 0
     }
  od
}

/* --- the world -------------------------------------------------------------------------------------------------- */

inline land(chunk) {
  for (i : 0 .. OPERATIONS - 1) {
    assert(!((chunk) & ALL_OF(i)) || !is_of(i, finished));
    if
    :: (chunk) & RECORD_OF(i) -> ring[i % SLOTS] = i + 1
    :: else
    fi
  }
  data_under_way[p] = data_under_way[p] & ~(chunk);
  landed = landed | (chunk);
  completions[p] = completions[p] | (chunk)
}

#define CHUNK_LANDS(c) \
  :: d_step { !failed && r_takes_chunks(p) && link[p] != SILENT && (data_under_way[p] & (1 << c)) -> land(1 << c) }

proctype plane(byte p) {
end:
  do
  CHUNK_LANDS(0)
  CHUNK_LANDS(1)
  CHUNK_LANDS(2)
  CHUNK_LANDS(3)
  CHUNK_LANDS(4)
  CHUNK_LANDS(5)
  :: d_step {
       !failed && s_takes_credit(p) && link[p] != SILENT && credit_under_way[p] ->
       credit = credit_under_way[p];
       credit_under_way[p] = 0;
       if
       :: credit_on == p && (r_state[p] == UP || r_state[p] == FENCING) -> credit_on = NOBODY
       :: else
       fi
     }

  /* A write that won't be retransmitted may be lost. */
  :: d_step { data_under_way[p] && !s_posts(p) -> data_under_way[p] = 0 }
  :: d_step { credit_under_way[p] && r_state[p] != UP -> credit_under_way[p] = 0 }

  :: d_step { failures < FAILURES && link[p] == WELL && !(s_finished && r_finished) -> failures++; link[p] = GONE }
#ifndef CARRIERS_ONLY
  :: d_step { failures < FAILURES && link[p] == WELL && !(s_finished && r_finished) -> failures++; link[p] = SILENT }
#endif
  :: d_step { returns < RETURNS && link[p] != WELL && !(s_finished && r_finished) -> returns++; link[p] = WELL }
  od
}

#define carries(p, state) (state[p] == UP && link[p] == WELL)
#if PLANES == 2
#define NONE_CARRIES(state) (!carries(0, state) && !carries(1, state))
#else
#define NONE_CARRIES(state) (!carries(0, state) && !carries(1, state) && !carries(2, state))
#endif

/* As in failover.pml: both ends fail at once. */
proctype give_up() {
end:
  d_step {
    !failed && (!s_finished && NONE_CARRIES(s_state) || !r_finished && NONE_CARRIES(r_state)) ->
    assert(failures >= PLANES);
    failed = true;
    to_be_posted = 0; acknowledged = 0; landed = 0; arrived = 0; finished = 0; applied = 0; oldest = 0; s_next = 0;
    credit = 0; credit_seen = 0; credit_said = 0; credit_on = NOBODY;
    for (i : 0 .. PLANES - 1) {
      data_under_way[i] = 0; credit_under_way[i] = 0;
      outstanding[i] = 0; kept[i] = false; kept_oldest[i] = 0; kept_arrivals[i] = 0;
      s_state[i] = DOWN; s_epoch[i] = 0;
      completions[i] = 0; r_kept[i] = false; r_state[i] = DOWN; r_epoch[i] = 0; link[i] = GONE
    }
    do
    :: nempty(to_initiator) -> to_initiator ? what, e, e, o, a
    :: nempty(to_target) -> to_target ? what, e, e
    :: empty(to_initiator) && empty(to_target) -> break
    od;
    for (i : 0 .. SLOTS - 1) {
      ring[i] = 0
    }
    failures = FAILURES; returns = RETURNS
  }
}

init {
  atomic {
    for (i : 0 .. PLANES - 1) {
      run initiator_plane(i);
      run target_plane(i);
      run plane(i)
    }
    run initiator();
    run target();
    run give_up()
  }
  /* Nothing can happen any more. */
  timeout ->
  d_step {
    assert(s_finished && r_finished);
    assert(failed || applied == (SIGNALS & EVERY_OPERATION));
    for (i : 0 .. PLANES - 1) {
      assert(failed || ((s_state[i] == UP || s_state[i] == DOWN) && (r_state[i] == UP || r_state[i] == DOWN)))
    }
    skip
  }
}
