/*
 * The kernels' part of an all-reduce. A lane is a sequence of primitives: one lane for each ring, and two for each
 * tree, up and down. A primitive waits for its data and for free slots, adds, and forwards. One thread serves all
 * lanes.
 */
#include <sched.h>
#include <string.h>

#include "among.h"
#include "report.h"

#define LEAST_CHANNEL_BYTES 4096 /* NCCL's smallest size for an LL channel */
#define LEAST_CHUNK_FLOATS 1024
#define CHUNKS_IN_FLIGHT 8

enum lane_kind { RING_LANE, UP, DOWN };

struct lane {
  enum lane_kind kind;
  const struct channel *channel;
  enum protocol protocol;
  size_t first, floats, chunk; /* part of the buffer; a chunk is at most as long as a slot */
  size_t next, count;          /* index of the next primitive, and number of primitives */
};

struct primitive {
  struct end *from[MOST_CHILDREN], *to[MOST_CHILDREN];
  size_t first, floats;
  int input, output; /* whether the rank's own part is added, and whether the result is kept */
};

static float scratch[SIMPLE_SLOT_BYTES / sizeof(float)];

static size_t least(size_t one, size_t two) { return one < two ? one : two; }

static size_t chunks_of(size_t floats, size_t chunk) { return (floats + chunk - 1) / chunk; }

/* ---- the order of primitives ---- */

/*
 * Returns a ring's next primitive. In a round of `ranks` chunks, a rank first sends one chunk, then adds its part to
 * the chunks that it receives and forwards them, and then forwards the complete sums.
 */
static struct primitive ring_primitive(const struct group *group, const struct lane *lane) {
  size_t ranks = (size_t)group->ranks, each = 2 * ranks - 1, turn = lane->next % each;
  size_t round = lane->next / each * ranks * lane->chunk, left = lane->floats - round;
  size_t chunk = least(lane->chunk, (left + ranks - 1) / ranks);
  size_t first = ((size_t)group->rank + 2 * ranks - 1 - turn) % ranks * chunk;
  struct primitive primitive = {.first = lane->first + round + first,
                                .floats = first < left ? least(chunk, left - first) : 0,
                                .input = turn < ranks,
                                .output = turn >= ranks - 1};
  if (turn > 0) primitive.from[0] = lane->channel->previous;
  if (turn < each - 1) primitive.to[0] = lane->channel->next;
  return primitive;
}

static struct primitive tree_primitive(const struct lane *lane) {
  const struct channel *channel = lane->channel;
  size_t first = lane->next * lane->chunk;
  int up = lane->kind == UP, root = channel->to_parent == NULL;
  struct primitive primitive = {.first = lane->first + first,
                                .floats = least(lane->chunk, lane->floats - first),
                                .input = up,
                                .output = root || !up};
  if (up) {
    memcpy(primitive.from, channel->from_children, sizeof primitive.from);
  } else {
    primitive.from[0] = channel->from_parent;
  }
  if (primitive.output) {
    memcpy(primitive.to, channel->to_children, sizeof primitive.to);
  } else {
    primitive.to[0] = channel->to_parent;
  }
  return primitive;
}

/* ---- one primitive ---- */

static size_t bytes_of(enum protocol protocol, size_t floats) {
  return protocol == LINES ? (floats + 1) / 2 * 2 * sizeof(uint64_t) : floats * sizeof(float);
}

static int is_there(const struct end *end, enum protocol protocol, size_t floats) {
  if (protocol == SIMPLE) return atomic_load_explicit(&end->tail, memory_order_acquire) > end->step;
  const _Atomic uint64_t *words = (const _Atomic uint64_t *)slot_of(end, protocol, end->step);
  for (size_t i = bytes_of(protocol, floats) / sizeof *words; i > 0; i--) {
    if (!has_flag_of(atomic_load_explicit(&words[i - 1], memory_order_acquire), end->step)) return 0;
  }
  return 1;
}

static int may_run(const struct primitive *primitive, enum protocol protocol) {
  for (int i = 0; i < MOST_CHILDREN; i++) {
    const struct end *to = primitive->to[i], *from = primitive->from[i];
    if (to != NULL && to->step >= atomic_load_explicit(&to->head, memory_order_acquire) + STEPS) return 0;
    if (from != NULL && !is_there(from, protocol, primitive->floats)) return 0;
  }
  return 1;
}

static void receive_slot(struct end *from, enum protocol protocol, float *sum, size_t floats, int add) {
  const unsigned char *slot = slot_of(from, protocol, from->step);
  if (protocol == SIMPLE) {
    const float *values = (const float *)slot;
    int size = atomic_load_explicit(&from->sizes[from->step % STEPS], memory_order_relaxed);
    if ((size_t)size != floats * sizeof(float)) {
      fail_with(EXIT_WRONG_DATA, "a receive reports %d bytes, %zu were sent", size, floats * sizeof(float));
    }
    if (add) {
      for (size_t i = 0; i < floats; i++) sum[i] += values[i];
    } else {
      memcpy(sum, values, floats * sizeof(float));
    }
  } else {
    const _Atomic uint64_t *words = (const _Atomic uint64_t *)slot;
    for (size_t i = 0; i < floats; i++) {
      uint32_t bits = (uint32_t)atomic_load_explicit(&words[i], memory_order_relaxed);
      float value;
      memcpy(&value, &bits, sizeof value);
      sum[i] = add ? sum[i] + value : value;
    }
  }
  from->step++;
  atomic_store_explicit(&from->head, from->step, memory_order_release);
}

static void send_slot(struct end *to, enum protocol protocol, const float *sum, size_t floats, float spoil) {
  unsigned char *slot = slot_of(to, protocol, to->step);
  _Atomic int *size = &to->sizes[to->step % STEPS];
  if (protocol == SIMPLE) {
    if (floats > 0) {
      memcpy(slot, sum, floats * sizeof(float));
      *(float *)slot += spoil;
    }
    atomic_store_explicit(size, (int)bytes_of(protocol, floats), memory_order_relaxed);
    atomic_store_explicit(&to->tail, to->step + 1, memory_order_release);
  } else {
    /*
     * The size is stored before the words, as in NCCL. The progress thread reads the size, then polls the words' flags.
     */
    atomic_store_explicit(size, (int)bytes_of(protocol, floats), memory_order_release);
    _Atomic uint64_t *words = (_Atomic uint64_t *)slot;
    for (size_t i = 0; i < bytes_of(protocol, floats) / sizeof *words; i++) {
      float value = i < floats ? sum[i] + (i == 0 ? spoil : 0) : 0;
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      atomic_store_explicit(&words[i], line_word(bits, to->step), memory_order_release);
    }
  }
  to->step++;
}

static void run(struct group *group, const struct primitive *primitive, enum protocol protocol, const float *input,
                float *output) {
  float *sum = primitive->output ? output + primitive->first : scratch;
  size_t floats = primitive->floats;
  if (primitive->input && floats > 0) memcpy(sum, input + primitive->first, floats * sizeof(float));
  int add = primitive->input;
  for (int i = 0; i < MOST_CHILDREN; i++) {
    if (primitive->from[i] == NULL) continue;
    receive_slot(primitive->from[i], protocol, sum, floats, add);
    add = 1;
  }
  for (int i = 0; i < MOST_CHILDREN; i++) {
    if (primitive->to[i] == NULL) continue;
    float spoil = group->spoil && floats > 0 ? 1 : 0;
    if (floats > 0) group->spoil = 0;
    send_slot(primitive->to[i], protocol, sum, floats, spoil);
  }
}

/* ---- a whole all-reduce ---- */

static void post_ring(const struct group *group, struct lane *lane, const struct channel *channel, size_t slot_floats) {
  size_t ranks = (size_t)group->ranks;
  lane->kind = RING_LANE;
  lane->chunk = slot_floats;
  size_t rounds = chunks_of(lane->floats, ranks * lane->chunk);
  lane->count = rounds * (2 * ranks - 1);
  uint64_t steps = rounds * (2 * ranks - 2);
  among_add(channel->next, steps, lane->protocol);
  among_add(channel->previous, steps, lane->protocol);
}

static void post_tree(struct lane *lane, const struct channel *channel, size_t slot_floats) {
  size_t wanted = chunks_of(lane->floats, CHUNKS_IN_FLIGHT);
  lane->chunk = least(wanted > LEAST_CHUNK_FLOATS ? wanted : LEAST_CHUNK_FLOATS, slot_floats);
  lane->count = chunks_of(lane->floats, lane->chunk);
  among_add(channel->to_parent, lane->count, lane->protocol);
  among_add(channel->from_parent, lane->count, lane->protocol);
  for (int i = 0; i < MOST_CHILDREN; i++) {
    among_add(channel->to_children[i], lane->count, lane->protocol);
    among_add(channel->from_children[i], lane->count, lane->protocol);
  }
}

/*
 * Posts the operations of a ring or a tree for each channel, and sets up its sequences of primitives: one for a ring,
 * two for a tree. Returns the number of sequences.
 */
static int post(const struct group *group, struct lane *lanes, size_t floats) {
  size_t channels = floats * sizeof(float) / LEAST_CHANNEL_BYTES;
  channels = channels < 1 ? 1 : least(channels, (size_t)group->channel_count);
  enum protocol protocol = floats * sizeof(float) <= group->lines_bytes ? LINES : SIMPLE;
  size_t slot_floats = protocol == LINES ? LINES_SLOT_BYTES / sizeof(uint64_t) : SIMPLE_SLOT_BYTES / sizeof(float);
  int count = 0;
  for (size_t c = 0; c < channels; c++) {
    const struct channel *channel = &group->channels[c];
    struct lane *lane = &lanes[count++];
    size_t first = floats * c / channels;
    *lane = (struct lane){
        .channel = channel, .protocol = protocol, .first = first, .floats = floats * (c + 1) / channels - first};
    if (group->algorithm == RING) {
      post_ring(group, lane, channel, slot_floats);
      continue;
    }
    post_tree(lane, channel, slot_floats);
    lane->kind = UP;
    if (channel->to_parent != NULL) {
      lanes[count] = *lane;
      lanes[count++].kind = DOWN;
    }
  }
  among_post();
  return count;
}

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield" ::: "memory");
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

void among_all_reduce(struct group *group, const float *input, float *output, size_t floats) {
  struct lane lanes[2 * MOST_CHANNELS];
  int count = post(group, lanes, floats), left = count, spins = 0;
  while (left > 0) {
    int moved = 0;
    left = 0;
    for (struct lane *lane = lanes; lane < lanes + count; lane++) {
      for (; lane->next < lane->count; lane->next++) {
        struct primitive primitive = lane->kind == RING_LANE ? ring_primitive(group, lane) : tree_primitive(lane);
        if (!may_run(&primitive, lane->protocol)) break;
        run(group, &primitive, lane->protocol, input, output);
        moved = 1;
      }
      left += lane->next < lane->count;
    }
    if (moved) {
      spins = 0;
    } else if (group->spins > 0 && ++spins >= group->spins) {
      spins = 0;
      sched_yield();
    } else {
      relax();
    }
  }
}
