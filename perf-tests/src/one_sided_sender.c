#include "one_sided_sender.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "report.h"

static size_t words_bytes(const struct streams *streams) {
  return stream_count(streams) * WORDS_OF_STREAM * sizeof(uint64_t);
}

static size_t pieces_bytes(const struct streams *streams) {
  return stream_count(streams) * PLACES * streams->max_bytes;
}

static size_t checked_bytes(const struct streams *streams) { return stream_count(streams) * sizeof *streams->checked; }

static void *memory(size_t bytes) {
  void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) fail_with(EXIT_BAD_USAGE, "no memory: %zu bytes; ask for less with --max-bytes", bytes);
  return found;
}

void sender_register(struct sender *sender, const struct one_sided *plugin, struct streams *streams) {
  streams->checked = memory(checked_bytes(streams));
  *sender = (struct sender){.plugin = plugin, .streams = streams};
  sender->sendings = calloc(stream_count(streams), sizeof *sender->sendings);
  if (sender->sendings == NULL) fail_with(EXIT_BAD_USAGE, "no memory for %zu lanes", stream_count(streams));
  streams->words = one_sided_memory(plugin, words_bytes(streams), 1, &sender->words_memory);
  streams->incoming = one_sided_memory(plugin, pieces_bytes(streams), 0, &sender->incoming_memory);
  streams->outgoing = one_sided_memory(plugin, pieces_bytes(streams), 0, &sender->outgoing_memory);
}

void sender_deregister(const struct sender *sender) {
  void *all[] = {sender->words_memory, sender->incoming_memory, sender->outgoing_memory};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    check(sender->plugin->calls.dereg(sender->plugin->group, all[i]), "deregMrSym");
  }
}

void sender_free(struct sender *sender) {
  struct streams *streams = sender->streams;
  munmap(streams->words, words_bytes(streams));
  munmap(streams->incoming, pieces_bytes(streams));
  munmap(streams->outgoing, pieces_bytes(streams));
  munmap(streams->checked, checked_bytes(streams));
  free(sender->sendings);
}

bool sender_check(struct sender *sender, int result, const char *call) {
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
  if (!sender_check(sender, sender->plugin->calls.test(sender->plugin->group, request, &done), "test")) return false;
  if (done) progress();
  return done;
}

/* Sends a signal without data, which adds `value` to a signal word in the peer's memory. Returns the request. */
static void *add_to(struct sender *sender, int peer, int context, size_t stream, int word, uint64_t value,
                    bool strong) {
  void *request = NULL;
  int result = sender->plugin->calls.put_signal(sender->plugin->contexts, context, 0, NULL, 0, 0, NULL, (uint32_t)peer,
                                                word_offset(stream, word), sender->words_memory, value, NCCL_SIGNAL_ADD,
                                                strong, &request);
  sender_check(sender, result, "iputSignal");
  return request;
}

/*
 * Starts the next operation to rank `to`, unless the target hasn't checked the former data in the operation's piece of
 * memory yet.
 */
static void start(struct sender *sender, struct sending *stream, int to, int context) {
  struct streams *streams = sender->streams;
  const struct one_sided *plugin = sender->plugin;
  size_t back = stream_of(streams, to, context), there = stream_of(streams, streams->rank, context);
  uint64_t checked = __atomic_load_n(streams->words + back * WORDS_OF_STREAM + WORD_CHECKED, __ATOMIC_ACQUIRE);
  uint64_t number = stream->next;
  if (number == streams->operations || number >= checked + PLACES || number >= stream->tested + PLACES) return;
  uint64_t random = stream_random(streams, streams->rank, to, context, number);
  size_t bytes = operation_bytes(streams, random);
  size_t from = place_offset(streams, back, number), into = place_offset(streams, there, number);
  fill_piece(streams->outgoing + from, bytes, random);
  /* Spoils all non-empty operations from the fourth on, since a single chosen operation might be empty. */
  if (streams->spoil && number >= 3 && bytes > 0) streams->outgoing[from] ^= 1;
  void **request = &stream->requests[number % PLACES];
  *request = NULL;
  int result = 0;
  if (is_weak(context)) {
    result = plugin->calls.put_signal(plugin->contexts, context, from, sender->outgoing_memory, bytes, into,
                                      sender->incoming_memory, (uint32_t)to,
                                      word_offset(there, WORD_WEAK + (int)(number % PLACES)), sender->words_memory, 0,
                                      NCCL_SIGNAL_INCREMENT, false, request);
  } else if (has_strong_signal(streams, streams->rank, to, context, number)) {
    result =
        plugin->calls.put_signal(plugin->contexts, context, from, sender->outgoing_memory, bytes, into,
                                 sender->incoming_memory, (uint32_t)to, word_offset(there, WORD_STRONG),
                                 sender->words_memory, number + 1 - stream->signalled, NCCL_SIGNAL_ADD, true, request);
    stream->signalled = number + 1;
  } else {
    result = plugin->calls.put(plugin->contexts, context, from, sender->outgoing_memory, bytes, into,
                               sender->incoming_memory, (uint32_t)to, request);
  }
  if (!sender_check(sender, result, "iput")) return;
  if (*request == NULL) fail_with(EXIT_PLUGIN_ERROR, "a put gave no request");
  stream->next++;
}

/*
 * Sends the next due signal without data: the checker's progress, or at the end the total number of operations. Returns
 * its request, or NULL if none is due.
 */
static void *due(struct sender *sender, struct sending *stream, int peer, int context, bool ends) {
  struct streams *streams = sender->streams;
  size_t number = stream_of(streams, peer, context), there = stream_of(streams, streams->rank, context);
  uint64_t checked = atomic_load_explicit(&streams->checked[number], memory_order_acquire);
  if (checked > stream->acknowledged) {
    uint64_t more = checked - stream->acknowledged;
    stream->acknowledged = checked;
    return add_to(sender, peer, context, there, WORD_CHECKED, more, false);
  }
  if (!ends || stream->knows_total) return NULL;
  if (!is_weak(context) && stream->signalled < stream->next) {
    uint64_t more = stream->next - stream->signalled;
    stream->signalled = stream->next;
    return add_to(sender, peer, context, there, WORD_STRONG, more, true);
  }
  stream->knows_total = true;
  return add_to(sender, peer, context, there, WORD_TOTAL, stream->next + 1, false);
}

bool sender_drive(struct sender *sender, int peer, int context, bool ends) {
  struct streams *streams = sender->streams;
  size_t number = stream_of(streams, peer, context);
  struct sending *stream = &sender->sendings[number];
  if (sender->failed == NULL && !ends) start(sender, stream, peer, context);
  while (sender->failed == NULL && stream->tested < stream->next &&
         is_done(sender, stream->requests[stream->tested % PLACES])) {
    stream->tested++;
  }
  if (sender->failed == NULL && stream->word != NULL && is_done(sender, stream->word)) stream->word = NULL;
  if (sender->failed == NULL && stream->word == NULL) {
    stream->word = due(sender, stream, peer, context, ends && streams->operations == UNTIL_KNOWN);
  }
  bool all = streams->operations == UNTIL_KNOWN ? stream->knows_total : stream->next == streams->operations;
  return sender->failed == NULL && all && stream->tested == stream->next && stream->word == NULL &&
         stream->acknowledged == stream_operations(streams, number);
}
