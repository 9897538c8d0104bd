#include "one_sided_sender.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "report.h"

static size_t words_bytes(const struct lanes *lanes) { return lane_count(lanes) * WORDS_OF_LANE * sizeof(uint64_t); }

static size_t pieces_bytes(const struct lanes *lanes) { return lane_count(lanes) * PLACES * lanes->max_bytes; }

static size_t checked_bytes(const struct lanes *lanes) { return lane_count(lanes) * sizeof *lanes->checked; }

static void *memory(size_t bytes) {
  void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) fail_with(EXIT_BAD_USAGE, "no memory: %zu bytes; ask for less with --max-bytes", bytes);
  return found;
}

void sender_register(struct sender *sender, const struct one_sided *plugin, struct lanes *lanes) {
  lanes->checked = memory(checked_bytes(lanes));
  *sender = (struct sender){.plugin = plugin, .lanes = lanes};
  sender->sendings = calloc(lane_count(lanes), sizeof *sender->sendings);
  if (sender->sendings == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu lanes", lane_count(lanes));
  lanes->words = one_sided_memory(plugin, words_bytes(lanes), 1, &sender->words_memory);
  lanes->incoming = one_sided_memory(plugin, pieces_bytes(lanes), 0, &sender->incoming_memory);
  lanes->outgoing = one_sided_memory(plugin, pieces_bytes(lanes), 0, &sender->outgoing_memory);
}

void sender_deregister(const struct sender *sender) {
  void *all[] = {sender->words_memory, sender->incoming_memory, sender->outgoing_memory};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    check(sender->plugin->calls.dereg(sender->plugin->group, all[i]), "deregMrSym");
  }
}

void sender_free(struct sender *sender) {
  struct lanes *lanes = sender->lanes;
  munmap(lanes->words, words_bytes(lanes));
  munmap(lanes->incoming, pieces_bytes(lanes));
  munmap(lanes->outgoing, pieces_bytes(lanes));
  munmap(lanes->checked, checked_bytes(lanes));
  free(sender->sendings);
}

bool sender_went_well(struct sender *sender, int result, const char *call) {
  if (result == 0) return true;
  if (sender->failed == NULL) {
    sender->failed = call;
    sender->result = result;
    progress();
  }
  return false;
}

static bool is_done(struct sender *sender, void *request) {
  int done = 0;
  if (!sender_went_well(sender, sender->plugin->calls.test(sender->plugin->group, request, &done), "test"))
    return false;
  if (done) progress();
  return done;
}

/* Sends a signal without data, which adds `value` to a signal word in the peer's memory. Returns the request. */
static void *add_to(struct sender *sender, int peer, int context, size_t lane, int word, uint64_t value, bool strong) {
  void *request = NULL;
  int result = sender->plugin->calls.put_signal(sender->plugin->contexts, context, 0, NULL, 0, 0, NULL, (uint32_t)peer,
                                                word_offset(lane, word), sender->words_memory, value, NCCL_SIGNAL_ADD,
                                                strong, &request);
  sender_went_well(sender, result, "iputSignal");
  return request;
}

/*
 * Starts the next operation to rank `to`, unless the target hasn't checked the former data in the operation's piece of
 * memory yet.
 */
static void start(struct sender *sender, struct sending *lane, int to, int context) {
  struct lanes *lanes = sender->lanes;
  const struct one_sided *plugin = sender->plugin;
  size_t back = lane_of(lanes, to, context), there = lane_of(lanes, lanes->rank, context);
  uint64_t checked = __atomic_load_n(lanes->words + back * WORDS_OF_LANE + WORD_CHECKED, __ATOMIC_ACQUIRE);
  uint64_t number = lane->next;
  if (number == lanes->operations || number >= checked + PLACES || number >= lane->tested + PLACES) return;
  uint64_t random = lane_random(lanes, lanes->rank, to, context, number);
  size_t bytes = operation_bytes(lanes, random);
  size_t from = place_offset(lanes, back, number), into = place_offset(lanes, there, number);
  fill_piece(lanes->outgoing + from, bytes, random);
  /* Spoils each non-empty operation from the fourth on, so that with every seed one occurs soon. */
  if (lanes->spoil && number >= 3 && bytes > 0) lanes->outgoing[from] ^= 1;
  void **request = &lane->requests[number % PLACES];
  *request = NULL;
  int result = 0;
  if (is_weak(context)) {
    result = plugin->calls.put_signal(plugin->contexts, context, from, sender->outgoing_memory, bytes, into,
                                      sender->incoming_memory, (uint32_t)to,
                                      word_offset(there, WORD_WEAK + (int)(number % PLACES)), sender->words_memory, 0,
                                      NCCL_SIGNAL_INCREMENT, false, request);
  } else if (has_strong_signal(lanes, lanes->rank, to, context, number)) {
    result =
        plugin->calls.put_signal(plugin->contexts, context, from, sender->outgoing_memory, bytes, into,
                                 sender->incoming_memory, (uint32_t)to, word_offset(there, WORD_STRONG),
                                 sender->words_memory, number + 1 - lane->signalled, NCCL_SIGNAL_ADD, true, request);
    lane->signalled = number + 1;
  } else {
    result = plugin->calls.put(plugin->contexts, context, from, sender->outgoing_memory, bytes, into,
                               sender->incoming_memory, (uint32_t)to, request);
  }
  if (!sender_went_well(sender, result, "iput")) return;
  if (*request == NULL) fail_with(EXIT_PLUGIN_ERROR, "a put gave no request");
  lane->next++;
}

/*
 * Sends the next due signal without data: the checker's progress, or at the end the total number of operations. Returns
 * its request, or NULL if none is due.
 */
static void *due(struct sender *sender, struct sending *lane, int peer, int context, bool ends) {
  struct lanes *lanes = sender->lanes;
  size_t number = lane_of(lanes, peer, context), there = lane_of(lanes, lanes->rank, context);
  uint64_t checked = atomic_load_explicit(&lanes->checked[number], memory_order_acquire);
  if (checked > lane->acknowledged) {
    uint64_t more = checked - lane->acknowledged;
    lane->acknowledged = checked;
    return add_to(sender, peer, context, there, WORD_CHECKED, more, false);
  }
  if (!ends || lane->knows_total) return NULL;
  if (!is_weak(context) && lane->signalled < lane->next) {
    uint64_t more = lane->next - lane->signalled;
    lane->signalled = lane->next;
    return add_to(sender, peer, context, there, WORD_STRONG, more, true);
  }
  lane->knows_total = true;
  return add_to(sender, peer, context, there, WORD_TOTAL, lane->next + 1, false);
}

bool sender_drive(struct sender *sender, int peer, int context, bool ends) {
  struct lanes *lanes = sender->lanes;
  size_t number = lane_of(lanes, peer, context);
  struct sending *lane = &sender->sendings[number];
  if (sender->failed == NULL && !ends) start(sender, lane, peer, context);
  while (sender->failed == NULL && lane->tested < lane->next &&
         is_done(sender, lane->requests[lane->tested % PLACES])) {
    lane->tested++;
  }
  if (sender->failed == NULL && lane->word != NULL && is_done(sender, lane->word)) lane->word = NULL;
  if (sender->failed == NULL && lane->word == NULL) {
    lane->word = due(sender, lane, peer, context, ends && lanes->operations == UNTIL_KNOWN);
  }
  bool all = lanes->operations == UNTIL_KNOWN ? lane->knows_total : lane->next == lanes->operations;
  return sender->failed == NULL && all && lane->tested == lane->next && lane->word == NULL &&
         lane->acknowledged == lane_operations(lanes, number);
}
