/*
 * SPIN model of the protocol of docs/failover.md: one connection whose planes fail and come back. Names are those of the
 * page and the code (PlaneState, ControlMessage, SendComm, RecvComm).
 *
 * The network delays a write arbitrarily, also past the end of its queue pair. RC executes a write at most once, and
 * retransmits it while its queue pair lives. Once that is in ERROR the write may land late or never. A write lands only
 * on the queue pair of its own epoch. So a write in flight to a dead queue pair is dropped here at once: it can't have
 * an effect any more (REOPEN_SAME_QUEUE_PAIR breaks exactly that).
 * The control channel is reliable and in order, also across its own loss, as the page says.
 * The model has no addresses. An end learns the other's in one message with the queue pairs there, and a queue pair
 * keeps its address. A queue pair whose address is gone is on a link that is SILENT, or GONE where the host notices.
 *
 * Required properties:
 *   1. no chunk lands in a buffer after its message was handed over (assertion in land);
 *   2. a send is done only when no queue pair can read its source any more (assertion in send_done);
 *   3. a peer's message never contradicts an end's own state (assertions in judge and at every message);
 *   4. the connection errs only after as many failures as there are planes (assertion in give_up);
 *   5. every message completes or errs. Only the intended end states have no successor (SPIN's invalid end states),
 *      and there is no cycle at all (SPIN's non-progress cycles, none being labelled as progress). So every run ends,
 *      and ends well, without any assumption on fairness.
 *
 * FailoverModelTest runs it, and checks that each way of breaking the protocol is found.
 */

#ifndef PLANES
#define PLANES 2
#endif
#ifndef GROUPS
#define GROUPS 3 /* messages of a run: one receive each */
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef SLOTS
#define SLOTS 2 /* of the ring of clear-to-send entries; group g uses buffer and slot g % SLOTS */
#endif
#ifndef FAILURES
#define FAILURES 2
#endif
#ifndef RETURNS
#define RETURNS 0
#endif


#define ALL_OF(g) (((1 << CHUNKS) - 1) << ((g) * CHUNKS))
#define EVERYTHING ((1 << (GROUPS * CHUNKS)) - 1)
#define FIRST_OF(set) ((set) & (0 - (set)))

mtype = {UP, FENCING, FENCED, DOWN, OPENING, PROBING};
mtype = {PlaneDown, Fenced, PlaneUp, PlaneReady};

/* Messages of an end: type, plane, epoch; the receiver's Fenced also: oldest, next, arrivals. */
chan to_receiver = [4 * PLANES] of {mtype, byte, byte};
chan to_sender = [4 * PLANES] of {mtype, byte, byte, byte, byte, byte};

/* The environment: links, and writes in flight. */
#define GONE 0 /* carrier lost, which both ends can see; writes in flight may still land */
#define SILENT 1 /* nothing lands and nothing is answered; the sender can't know the cause */
#define WELL 2
byte link[PLANES] = WELL;
byte failures, returns;
byte data_under_way[PLANES]; /* chunks */
byte entries_under_way[PLANES]; /* groups */

/* SendComm. */
mtype s_state[PLANES] = UP;
byte s_epoch[PLANES];
byte ring[SLOTS]; /* group + 1 of the last write */
byte s_group; /* next to be sent */
byte to_be_posted, acknowledged;
byte outstanding[PLANES];
bool kept[PLANES]; /* the receiver's Fenced has come */
byte kept_oldest[PLANES], kept_next[PLANES], kept_arrivals[PLANES];

/* RecvComm. */
mtype r_state[PLANES] = UP;
byte r_epoch[PLANES];
byte oldest, next; /* groups that are open: oldest to next - 1 */
byte landed; /* chunks that the device has executed */
byte completions[PLANES]; /* those of them whose completion wasn't polled yet */
byte arrived; /* chunks whose completion was polled */
byte to_be_written; /* groups whose entries are to be written, for the first time or again */
byte entries_on[PLANES]; /* groups whose entries were last written on this plane */
byte entries_outstanding[PLANES]; /* groups whose entries were written on it and aren't known to have landed */
bool r_kept[PLANES];

bool failed; /* the connection, at both ends */

/* Scratch, within one step. */
hidden byte bits, i, e, o, n, a;
hidden mtype what;

#define in_use(state) (state == UP || state == OPENING || state == PROBING)
#define s_posts(p) (s_state[p] == UP)
#define s_takes_entries(p) (s_state[p] == UP || s_state[p] == PROBING)
#ifdef FENCE_WITHOUT_ERROR
#define r_takes_chunks(p) true
#else
#define r_takes_chunks(p) (r_state[p] == UP || r_state[p] == OPENING)
#endif
/* One end's queue pairs are in ERROR, in the other end's epoch. */
#define is_dead(state) (state == FENCING || state == FENCED)
#define unanswered(p) (s_epoch[p] == r_epoch[p] && (is_dead(s_state[p]) || is_dead(r_state[p])))

/*
 * A plane's queue pairs answer at both ends. Where none does, an end can't tell a lost plane from
 * a slow peer.
 */
#define answers(p) (link[p] == WELL && in_use(s_state[p]) && in_use(r_state[p]) && s_epoch[p] == r_epoch[p])
#if PLANES == 1
#define PEER_IS_HEARD answers(0)
#elif PLANES == 2
#define PEER_IS_HEARD (answers(0) || answers(1))
#else
#define PEER_IS_HEARD (answers(0) || answers(1) || answers(2))
#endif
#define is_lost(p) (link[p] == GONE || (link[p] == SILENT || unanswered(p)) && PEER_IS_HEARD)
#define s_finished (failed || acknowledged == EVERYTHING)
#define r_finished (failed || oldest == GROUPS)

/* --- the sender ------------------------------------------------------------------------------------------------- */

inline acknowledge(set) {
  acknowledged = acknowledged | set;
  for (i : 0 .. GROUPS - 1) {
    if
    :: (set & ALL_OF(i)) && (acknowledged & ALL_OF(i)) == ALL_OF(i) -> send_done(i)
    :: else
    fi
  }
}

inline send_done(group) {
#ifndef SOURCE_UNWATCHED
  for (n : 0 .. PLANES - 1) {
    assert(!(s_posts(n) && (outstanding[n] & ALL_OF(group))))
  }
#else
  skip
#endif
}

inline s_begin_fence() {
  s_state[p] = FENCING;
#ifndef REOPEN_SAME_QUEUE_PAIR
  entries_under_way[p] = 0
#endif
}

/* The receiver's message must agree with this end's state. */
inline judge() {
  assert(kept_oldest[p] <= s_group);
#ifdef NEXT_COVERS_SENDER
  assert(kept_next[p] >= s_group);
#endif
  for (i : 0 .. GROUPS - 1) {
    if
    :: i >= kept_oldest[p] && i < kept_next[p] ->
       assert(i < s_group || !(kept_arrivals[p] & ALL_OF(i)));
       assert(!(kept_arrivals[p] & to_be_posted & ALL_OF(i)))
    :: else
    fi
  }
}

inline s_settle() {
  judge();
  bits = 0;
  for (i : 0 .. GROUPS - 1) {
    if
    :: i < kept_oldest[p] -> bits = bits | ALL_OF(i)
    :: i >= kept_oldest[p] && i < kept_next[p] -> bits = bits | (kept_arrivals[p] & ALL_OF(i))
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
  kept_next[p] = 0;
  kept_arrivals[p] = 0;
  acknowledge(bits)
}

proctype sender_plane(byte p) {
end:
  do
  /* Post a chunk. A write to a queue pair that is in ERROR there has no effect. */
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

  /* An acknowledgement; while fencing, one that was in the completion queue. */
  :: d_step {
       !failed && (s_posts(p) && link[p] != SILENT || s_state[p] == FENCING) && (outstanding[p] & landed) ->
       bits = FIRST_OF(outstanding[p] & landed);
       outstanding[p] = outstanding[p] & ~bits;
       acknowledge(bits);
       skip
     }

  /* Notice a failure: of the carrier, or silence there though the peer answers on another plane. */
  :: d_step {
       !failed && in_use(s_state[p]) && is_lost(p) ->
       to_receiver ! PlaneDown(p, s_epoch[p]);
       s_begin_fence()
     }

  :: d_step {
       !failed && s_state[p] == FENCING ->
       to_receiver ! Fenced(p, s_epoch[p]);
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
       to_receiver ! PlaneUp(p, s_epoch[p]);
       s_state[p] = OPENING
     }

  /* Every probe was acknowledged. */
  :: d_step {
       !failed && s_state[p] == PROBING && r_takes_chunks(p) && link[p] != SILENT ->
       to_receiver ! PlaneReady(p, s_epoch[p]);
       s_state[p] = UP
     }
  od
}

proctype sender() {
  byte p;
end:
  do
  /* isend: the head group's entries have come. */
  :: d_step {
       !failed && s_group < GROUPS && ring[s_group % SLOTS] == s_group + 1 ->
       to_be_posted = to_be_posted | ALL_OF(s_group);
       s_group++
     }

  :: d_step {
       !failed && nempty(to_sender) ->
       to_sender ? what, p, e, o, n, a;
       assert(e == s_epoch[p] && s_state[p] != DOWN);
       if
       :: what == Fenced ->
          assert(!kept[p]);
          kept[p] = true;
          kept_oldest[p] = o;
          kept_next[p] = n;
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

/* --- the receiver ----------------------------------------------------------------------------------------------- */

/* Over the open groups. */
#define OPEN_ARRIVALS (arrived >> (oldest * CHUNKS) << (oldest * CHUNKS))

/* Completions are polled, chunks counted once, full groups handed over in order. */
inline take_completions() {
  arrived = arrived | completions[p];
  completions[p] = 0;
  for (i : 0 .. GROUPS - 1) {
    if
    :: i == oldest && oldest < next && (arrived & ALL_OF(i)) == ALL_OF(i) ->
       oldest++;
       to_be_written = to_be_written & ~(1 << i)
    :: else
    fi
  }
}

inline r_begin_fence() {
  r_state[p] = FENCING;
#if !defined(REOPEN_SAME_QUEUE_PAIR) && !defined(FENCE_WITHOUT_ERROR)
  data_under_way[p] = 0
#endif
}

inline rewrite_entries() {
  for (i : 0 .. GROUPS - 1) {
    if
    :: (entries_on[p] & (1 << i)) && i >= oldest && i < next && (arrived & ALL_OF(i)) != ALL_OF(i) ->
       to_be_written = to_be_written | (1 << i)
    :: else
    fi
  }
}

inline r_settle() {
#ifndef REWRITE_BEFORE_FENCE
  rewrite_entries();
#endif
  entries_on[p] = 0;
  entries_outstanding[p] = 0;
  r_kept[p] = false;
  r_state[p] = DOWN
}

/* Before a slot gets new entries, every write of its last ones has landed, or its plane is settled. */
#if PLANES == 1
#define ENTRIES_OUTSTANDING entries_outstanding[0]
#elif PLANES == 2
#define ENTRIES_OUTSTANDING (entries_outstanding[0] | entries_outstanding[1])
#else
#define ENTRIES_OUTSTANDING (entries_outstanding[0] | entries_outstanding[1] | entries_outstanding[2])
#endif
#ifdef ENTRIES_UNCOUNTED
#define slot_is_quiet true
#else
#define slot_is_quiet (next < SLOTS || !(ENTRIES_OUTSTANDING & (1 << (next - SLOTS))))
#endif

proctype receiver_plane(byte p) {
end:
  do
  :: d_step {
       !failed && r_state[p] == UP && to_be_written ->
       bits = FIRST_OF(to_be_written);
       to_be_written = to_be_written & ~bits;
       for (i : 0 .. PLANES - 1) {
         entries_on[i] = entries_on[i] & ~bits
       }
       entries_on[p] = entries_on[p] | bits;
       entries_outstanding[p] = entries_outstanding[p] | bits;
       if
       :: s_takes_entries(p) -> entries_under_way[p] = entries_under_way[p] | bits
       :: else
       fi
     }

  :: d_step { !failed && r_state[p] != FENCED && completions[p] -> take_completions(); skip }

  :: d_step {
       !failed && in_use(r_state[p]) && is_lost(p) ->
       to_sender ! PlaneDown(p, r_epoch[p], 0, 0, 0);
       r_begin_fence()
     }

  :: d_step {
       !failed && r_state[p] == FENCING ->
#ifndef FENCE_WITHOUT_COMPLETIONS
       take_completions();
#endif
       to_sender ! Fenced(p, r_epoch[p], oldest, next, OPEN_ARRIVALS);
       r_state[p] = FENCED;
#ifdef REWRITE_BEFORE_FENCE
       rewrite_entries();
#endif
       if
       :: r_kept[p] -> r_settle()
       :: else
       fi;
       skip
     }
  od
}

proctype receiver() {
  byte p;
end:
  do
  /* irecv: a buffer that this end owns again is posted for another message. */
  :: d_step {
       !failed && next < GROUPS && next < oldest + SLOTS && slot_is_quiet ->
       to_be_written = to_be_written | (1 << next);
       next++
     }

  :: d_step {
       !failed && nempty(to_receiver) ->
       to_receiver ? what, p, e;
       if
       :: what == PlaneUp ->
          assert(r_state[p] == DOWN && e == r_epoch[p] + 1);
          r_epoch[p] = e;
          if
          :: link[p] == WELL ->
             to_sender ! PlaneUp(p, e, 0, 0, 0);
             r_state[p] = OPENING
          :: else ->
             to_sender ! PlaneDown(p, e, 0, 0, 0);
             to_sender ! Fenced(p, e, oldest, next, OPEN_ARRIVALS);
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

/* The bytes of a chunk are written to its group's buffer; then there is a completion. */
inline land(chunk) {
  for (i : 0 .. GROUPS - 1) {
    assert(!((chunk) & ALL_OF(i)) || i >= oldest)
  }
  data_under_way[p] = data_under_way[p] & ~(chunk);
  landed = landed | (chunk);
  completions[p] = completions[p] | (chunk)
}

#define CHUNK_LANDS(c) \
  :: d_step { !failed && r_takes_chunks(p) && link[p] != SILENT && (data_under_way[p] & (1 << c)) -> land(1 << c) }

#define ENTRIES_LAND(g) \
  :: d_step { \
       !failed && s_takes_entries(p) && link[p] != SILENT && (entries_under_way[p] & (1 << g)) -> \
       entries_under_way[p] = entries_under_way[p] & ~(1 << g); \
       ring[g % SLOTS] = g + 1; \
       if \
       :: r_state[p] == UP || r_state[p] == FENCING -> entries_outstanding[p] = entries_outstanding[p] & ~(1 << g) \
       :: else \
       fi \
     }

proctype plane(byte p) {
end:
  do
  CHUNK_LANDS(0)
  CHUNK_LANDS(1)
  CHUNK_LANDS(2)
  CHUNK_LANDS(3)
  CHUNK_LANDS(4)
  CHUNK_LANDS(5)
  ENTRIES_LAND(0)
  ENTRIES_LAND(1)
  ENTRIES_LAND(2)

  /* A write that won't be retransmitted may be lost. */
  :: d_step { data_under_way[p] && !s_posts(p) -> data_under_way[p] = 0 }
  :: d_step { entries_under_way[p] && r_state[p] != UP -> entries_under_way[p] = 0 }

  :: d_step { failures < FAILURES && link[p] == WELL && !(s_finished && r_finished) -> failures++; link[p] = GONE }
#ifndef CARRIERS_ONLY /* every failure is visible; three planes of both kinds are more states than a search holds */
  :: d_step { failures < FAILURES && link[p] == WELL && !(s_finished && r_finished) -> failures++; link[p] = SILENT }
#endif
  :: d_step { returns < RETURNS && link[p] != WELL && !(s_finished && r_finished) -> returns++; link[p] = WELL }
  od
}

#ifdef GRACE_WITHOUT_SILENCE
#define carries(p, state) (state[p] == UP)
#else
#define carries(p, state) (state[p] == UP && link[p] == WELL)
#endif
#if PLANES == 1
#define NONE_CARRIES(state) (!carries(0, state))
#elif PLANES == 2
#define NONE_CARRIES(state) (!carries(0, state) && !carries(1, state))
#else
#define NONE_CARRIES(state) (!carries(0, state) && !carries(1, state) && !carries(2, state))
#endif

/*
 * The grace time is over without a plane that carries traffic at one of the ends. The other is
 * notified and fails too. A later notification would show nothing new, since until then the failed
 * end behaves like a slow one.
 */
proctype give_up() {
end:
  d_step {
    !failed && (!s_finished && NONE_CARRIES(s_state) || !r_finished && NONE_CARRIES(r_state)) ->
    assert(failures >= PLANES);
    failed = true;
    to_be_posted = 0; acknowledged = 0; landed = 0; arrived = 0; to_be_written = 0; oldest = 0; next = 0; s_group = 0;
    for (i : 0 .. PLANES - 1) {
      data_under_way[i] = 0; entries_under_way[i] = 0;
      outstanding[i] = 0; kept[i] = false; kept_oldest[i] = 0; kept_next[i] = 0; kept_arrivals[i] = 0;
      s_state[i] = DOWN; s_epoch[i] = 0;
      completions[i] = 0; entries_on[i] = 0; entries_outstanding[i] = 0; r_kept[i] = false;
      r_state[i] = DOWN; r_epoch[i] = 0; link[i] = GONE
    }
    do
    :: nempty(to_sender) -> to_sender ? what, e, e, o, n, a
    :: nempty(to_receiver) -> to_receiver ? what, e, e
    :: empty(to_sender) && empty(to_receiver) -> break
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
      run sender_plane(i);
      run receiver_plane(i);
      run plane(i)
    }
    run sender();
    run receiver();
    run give_up()
  }
  /* Nothing can happen any more. */
  timeout ->
  d_step {
    assert(s_finished && r_finished);
    for (i : 0 .. PLANES - 1) {
      assert(failed || ((s_state[i] == UP || s_state[i] == DOWN) && (r_state[i] == UP || r_state[i] == DOWN)))
    }
    skip
  }
}
