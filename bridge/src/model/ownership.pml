/*
 * Model of group ownership, for SPIN: docs/decisions/bridge.md. Two bridges, two fabrics, one group. Names
 * are the code's (Ownership, PeerTable, Beacon). With two bridges a view is the set of bridges that can own groups, and
 * perhaps an order that names the owner. The owner is the ordered one, or else bridge 0 where it can, or else bridge 1.
 *
 * A beacon holds its sender's whole state, and each fabric holds the newest one of each bridge, or none. It may be lost or
 * late: a newer one replaces it. Beacons of the two fabrics may be reordered, and the sequence number shows the newer one.
 * Deciding is one step; in another the data path follows, and the decision is announced afterwards.
 *
 * A bridge counts as silent only where it is gone, or where no fabric carries beacons. So "a fabric carries beacons" means
 * that at least one beacon arrives within the hold time, 3.5 intervals.
 *
 * Properties:
 *   1. the group has two owners only after a bridge was gone, or no fabric has carried beacons (assertion in obey);
 *   2. when no more events happen and a fabric carries beacons, a group that a bridge can own has exactly one owner
 *      (assertions in init); only the intended end states have no successor.
 *
 * OwnershipModelTest runs it, and checks that it detects each way of breaking the protocol.
 */

#ifndef EVENTS
#define EVENTS 2 /* maximum number of operators' events: starts and ends of draining, orders */
#endif
#ifndef CUTS
#define CUTS 0 /* maximum number of times that a fabric stops or resumes carrying beacons */
#endif
#ifndef CRASHES
#define CRASHES 0 /* maximum number of crashes of bridges, and of starts after them */
#endif
#ifndef OVERTAKEN
#define OVERTAKEN 0 /* maximum number of beacons sent over only one fabric: an older one may then arrive later */
#endif

#define NOBODY 2
#define OTHER (1 - me)

/* Content of a beacon. Bits of the view: 1, 2: bridge 0, bridge 1 can own; 4, 8: an order names bridge 0, bridge 1. */
typedef Told {
  byte sequence; /* 0 if there is no beacon */
  byte incarnation;
  bit eligible;
  byte view;
  byte change;
  byte heard_incarnation;
  byte heard_change;
  byte order;
  byte order_version
}

/* A bridge's own state. */
typedef Bridge {
  bit up;
  bit listening; /* STARTING */
  bit draining;
  bit alive; /* the other bridge counts as alive */
  byte incarnation;
  byte sequence;
  byte view;
  byte change;
  bit settled;
  bit owns;
  bit decided; /* a decision that the data path doesn't follow yet, and that no beacon has announced */
  byte order;
  byte order_version
}

Bridge bridge[2];
bit forwards[2]; /* whether the data path of bridge i forwards */
Told newest[2];  /* newest beacon that bridge i has received from the other bridge */
Told flight[4];  /* beacon of bridge i in flight over fabric f, at 2 * i + f */
bit carries[2];
bit trouble; /* a bridge was gone, or no fabric has carried beacons */
byte events, cuts, crashes, overtaken;

#define ELIGIBLE(i) (bridge[i].up && !bridge[i].listening && !bridge[i].draining)
#define BY_RANK(v) ((v & 1) -> 0 : ((v & 2) -> 1 : NOBODY))
#define OWNER(v) ((v & 4) && (v & 1) -> 0 : ((v & 8) && (v & 2) -> 1 : BY_RANK(v)))

#define CAN(i) (me == i -> ELIGIBLE(i) : (bridge[me].alive && newest[me].eligible))
#define ORDER (bridge[me].order == NOBODY -> 0 : 4 << bridge[me].order)

#ifdef AGREES_WITHOUT_ECHO
#define ECHOED true
#else
#define ECHOED (newest[me].heard_incarnation == bridge[me].incarnation && newest[me].heard_change == bridge[me].change)
#endif
#ifdef TAKES_UNASKED
#define AGREED true
#else
#define AGREED (!bridge[me].alive || newest[me].view == bridge[me].view && ECHOED)
#endif

inline copy(to, from) {
  to.sequence = from.sequence; to.incarnation = from.incarnation; to.eligible = from.eligible; to.view = from.view;
  to.change = from.change; to.heard_incarnation = from.heard_incarnation; to.heard_change = from.heard_change;
  to.order = from.order; to.order_version = from.order_version
}

inline forget(gone) {
  gone.sequence = 0; gone.incarnation = 0; gone.eligible = 0; gone.view = 0; gone.change = 0;
  gone.heard_incarnation = 0; gone.heard_change = 0; gone.order = NOBODY; gone.order_version = 0
}

/* PeerProtocol.step: adopts the view, and gives the group up, or takes it once the view is agreed. */
inline step() {
  now_view = CAN(0) + 2 * CAN(1) + ORDER;
  if
  :: now_view != bridge[me].view ->
    bridge[me].view = now_view;
    bridge[me].change++;
    bridge[me].settled = 0;
    bridge[me].owns = bridge[me].owns && OWNER(now_view) == me;
    bridge[me].decided = 1
  :: else
  fi;
  if
  :: !bridge[me].settled && AGREED ->
    bridge[me].settled = 1;
    bridge[me].owns = OWNER(now_view) == me;
    bridge[me].decided = 1
  :: else
  fi;
  now_view = 0
}

inline obey() {
  forwards[me] = bridge[me].owns;
  assert(trouble || !(forwards[0] && forwards[1]))
}

#define NEITHER 2
#define BOTH_CARRY (carries[0] && carries[1])

inline tell(missing) {
  bridge[me].sequence++;
  for (f : 0 .. 1) {
    if
    :: carries[f] && f != missing ->
      at = 2 * me + f;
      flight[at].sequence = bridge[me].sequence;
      flight[at].incarnation = bridge[me].incarnation;
      flight[at].eligible = ELIGIBLE(me);
      flight[at].view = bridge[me].view;
      flight[at].change = bridge[me].change;
      flight[at].heard_incarnation = (bridge[me].alive -> newest[me].incarnation : 0);
      flight[at].heard_change = (bridge[me].alive -> newest[me].change : 0);
      flight[at].order = bridge[me].order;
      flight[at].order_version = bridge[me].order_version
    :: else
    fi
  }
  f = 0; at = 0;
  bridge[me].decided = 0
}

#define NEWER (flight[at].incarnation > newest[me].incarnation || flight[at].incarnation == newest[me].incarnation && flight[at].sequence >= newest[me].sequence)
#define OLD_START (flight[at].incarnation < newest[me].incarnation)
/* The received beacon changes what the next own beacon must echo. */
#define NEWS (newest[me].incarnation != flight[at].incarnation || newest[me].change != flight[at].change || !bridge[me].alive)

/* PeerTable.receive, and Pins.merge. */
inline hear(fabric) {
  at = 2 * OTHER + fabric;
  if
  :: OLD_START
  :: else ->
    if
    :: NEWS -> bridge[me].decided = 1
    :: else
    fi;
    bridge[me].alive = 1;
    if
    :: NEWER -> copy(newest[me], flight[at])
    :: else
    fi;
    if
    :: flight[at].order_version > bridge[me].order_version ->
      bridge[me].order = flight[at].order; bridge[me].order_version = flight[at].order_version
    :: else
    fi;
    step()
  fi;
  forget(flight[at]);
  at = 0
}

/* No beacon of the other bridge can be received. */
#define HEARS_NOBODY (!bridge[OTHER].up || (!carries[0] && !carries[1]))
#define NOTHING_COMES (flight[2 * OTHER].sequence == 0 && flight[2 * OTHER + 1].sequence == 0)
#define READY (bridge[me].up && !bridge[me].decided)
#ifdef TELLS_BEFORE_IT_STOPS
bit late[2];
#endif

proctype peer(bit me) {
  byte now_view, f, at;
end:
  do
  :: READY && flight[2 * OTHER].sequence != 0 -> d_step { hear(0) }
  :: READY && flight[2 * OTHER + 1].sequence != 0 -> d_step { hear(1) }
#ifdef TELLS_BEFORE_IT_STOPS
  :: bridge[me].up && bridge[me].decided -> d_step { tell(NEITHER); late[me] = 1 }
  :: bridge[me].up && late[me] -> d_step { late[me] = 0; obey() }
#else
  :: bridge[me].up && bridge[me].decided -> d_step { obey(); tell(NEITHER) }
  :: bridge[me].up && bridge[me].decided && overtaken < OVERTAKEN && BOTH_CARRY -> d_step { overtaken++; obey(); tell(0) }
  :: bridge[me].up && bridge[me].decided && overtaken < OVERTAKEN && BOTH_CARRY -> d_step { overtaken++; obey(); tell(1) }
#endif
  /* The other bridge counts as gone after 3.5 intervals without a beacon. */
  :: READY && bridge[me].alive && HEARS_NOBODY && NOTHING_COMES ->
    d_step { bridge[me].alive = 0; bridge[me].decided = 1; step() }
  /* Listening ends after 3.5 intervals: the other bridge has been heard by then, or can't be heard. */
#ifdef STARTS_WITHOUT_LISTENING
  :: READY && bridge[me].listening ->
#else
  :: READY && bridge[me].listening && (bridge[me].alive || HEARS_NOBODY && NOTHING_COMES) ->
#endif
    d_step { bridge[me].listening = 0; bridge[me].decided = 1; step() }
  od
}

inline drain() {
  events++;
  bridge[me].draining = 1 - bridge[me].draining;
  bridge[me].decided = 1;
  step()
}

/* Assigns the group to bridge 1, or withdraws the order. */
inline give_order() {
  events++;
  bridge[me].order = (bridge[me].order == 1 -> NOBODY : 1);
  bridge[me].order_version = bridge[me].order_version + 1;
  bridge[me].decided = 1;
  step()
}

/* Cuts a fabric, or restores it. A restored fabric carries the beacons of the next interval. */
inline cut(fabric) {
  cuts++;
  carries[fabric] = 1 - carries[fabric];
  forget(flight[fabric]);
  forget(flight[2 + fabric]);
  trouble = trouble || (!carries[0] && !carries[1]);
  bridge[0].decided = 1;
  bridge[1].decided = 1
}

/* Crashes bridge i, or starts it again. Beacons that it sent before may still arrive. */
inline crash(i) {
  crashes++;
  trouble = 1;
  forwards[i] = 0;
  bridge[i].owns = 0; bridge[i].decided = 1;
  if
  :: bridge[i].up -> bridge[i].up = 0
  :: else ->
    bridge[i].up = 1; bridge[i].listening = 1; bridge[i].draining = 0; bridge[i].alive = 0;
    bridge[i].incarnation++; bridge[i].sequence = 0; bridge[i].view = 0; bridge[i].change = 0; bridge[i].settled = 0;
    bridge[i].order = NOBODY; bridge[i].order_version = 0;
    forget(newest[i])
  fi;
  /* The other bridge sends a beacon in each interval. */
  bridge[1 - i].decided = 1
}

proctype world() {
  byte me, now_view;
end:
  do
  :: break
  :: events < EVENTS && bridge[0].up -> d_step { me = 0; drain() }
  :: events < EVENTS && bridge[1].up -> d_step { me = 1; drain(); me = 0 }
#ifdef ORDERS
  :: events < EVENTS && bridge[0].up -> d_step { me = 0; give_order() }
  :: events < EVENTS && bridge[1].up -> d_step { me = 1; give_order(); me = 0 }
#endif
  :: cuts < CUTS -> d_step { cut(0) }
  :: cuts < CUTS -> d_step { cut(1) }
  :: crashes < CRASHES -> d_step { crash(0) }
  :: crashes < CRASHES -> d_step { crash(1) }
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. 1) {
      bridge[i].up = 1; bridge[i].listening = 1; bridge[i].incarnation = 1; bridge[i].decided = 1;
      bridge[i].order = NOBODY; newest[i].order = NOBODY; carries[i] = 1
    }
    for (i : 0 .. 3) {
      flight[i].order = NOBODY
    }
    i = 0;
    run peer(0);
    run peer(1);
    run world()
  }
  /* No more events can happen. */
  timeout ->
  d_step {
    if
    :: carries[0] || carries[1] ->
      assert(forwards[0] + forwards[1] == (ELIGIBLE(0) || ELIGIBLE(1) -> 1 : 0))
    :: else
    fi;
    skip
  }
}
