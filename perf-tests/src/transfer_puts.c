#include <stdlib.h>
#include <string.h>

#include "one_sided_plugin.h"
#include "report.h"
#include "transfer.h"

static const struct transfer_options *options;
static struct one_sided plugin;
static struct one_sided_meeting meeting;
static unsigned char *from, *into;
static uint64_t words[TRANSFER_MOST_RANKS]; /* per rank, the word that signals from that rank add to */
static void *from_memory, *into_memory, *words_memory;

static void open(const struct transfer_options *wanted) {
  options = wanted;
  if (one_sided_load(&plugin, options->plugin, options->table, options->log_prefix) != 0) exit(EXIT_PLUGIN_ERROR);
  progress();
  meeting = (struct one_sided_meeting){.folder = options->folder,
                                       .rank = options->rank,
                                       .ranks = options->ranks,
                                       .timeout_seconds = options->timeout_seconds};
  one_sided_connect(&plugin, &meeting, 1);
  size_t bytes = 0;
  from = transfer_memory(options, &bytes);
  into = transfer_memory(options, &bytes);
  check(plugin.calls.reg(plugin.group, from, bytes, 1, 0, &from_memory), "regMrSym");
  check(plugin.calls.reg(plugin.group, into, bytes, 1, 0, &into_memory), "regMrSym");
  check(plugin.calls.reg(plugin.group, words, sizeof words, 1, 0, &words_memory), "regMrSym");
  one_sided_barrier(&plugin, &meeting, "registered");
}

static void set_expected(int sender, uint64_t count) { (void)sender, (void)count; }

static void *send(int to, uint64_t number, bool ordered) {
  void *request = NULL;
  check(plugin.calls.put_signal(plugin.contexts, 0, transfer_piece(options, to, number), from_memory, options->bytes,
                                transfer_piece(options, options->rank, number), into_memory, (uint32_t)to,
                                (size_t)options->rank * sizeof *words, words_memory, 1, NCCL_SIGNAL_ADD, ordered,
                                &request),
        "iputSignal");
  if (request == NULL) fail_with(EXIT_PLUGIN_ERROR, "a put gave no request");
  return request;
}

static bool is_sent(void *request) { return one_sided_is_done(&plugin, request); }

static uint64_t arrived(int sender) {
  one_sided_progress(&plugin);
  return __atomic_load_n(&words[sender], __ATOMIC_ACQUIRE);
}

static void close(void) {
  one_sided_barrier(&plugin, &meeting, "through");
  check(plugin.calls.dereg(plugin.group, from_memory), "deregMrSym");
  check(plugin.calls.dereg(plugin.group, into_memory), "deregMrSym");
  check(plugin.calls.dereg(plugin.group, words_memory), "deregMrSym");
  one_sided_barrier(&plugin, &meeting, "deregistered");
  check(plugin.calls.destroy_contexts(plugin.contexts), "destroyContext");
  check(plugin.calls.close(plugin.group), "closeColl");
  check(plugin.calls.finalize(plugin.context), "finalize");
}

const struct transfer transfer_by_puts = {"puts", open, set_expected, send, is_sent, arrived, close};
