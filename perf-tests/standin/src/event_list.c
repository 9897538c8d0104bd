#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "local.h"

bool event_list_open(struct event_list *list) {
  *list = (struct event_list){.file = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
  pthread_mutex_init(&list->lock, NULL);
  return list->file >= 0;
}

void event_list_close(struct event_list *list) {
  close(list->file);
  free(list->messages);
  pthread_mutex_destroy(&list->lock);
}

static void count_up(const struct event_list *list) {
  const uint64_t one = 1;
  ssize_t written = write(list->file, &one, sizeof one);
  (void)written; /* can't fail: the counter goes up to 2^64 - 2 */
}

/*
 * Decrements the eventfd's counter for a removed event. The caller holds the lock. A reader may have decremented the
 * counter already, so poll() is called first and this function never blocks. Such a reader finds the list empty and
 * waits again.
 */
static void count_down(const struct event_list *list) {
  struct pollfd readable = {.fd = list->file, .events = POLLIN};
  uint64_t one;
  if (poll(&readable, 1, 0) == 1) {
    ssize_t got = read(list->file, &one, sizeof one);
    (void)got;
  }
}

void event_list_add(struct event_list *list, const struct message *message) {
  pthread_mutex_lock(&list->lock);
  if (list->count == list->room) {
    uint32_t room = list->room == 0 ? 16 : 2 * list->room;
    struct message *more = realloc(list->messages, room * sizeof *more);
    if (more != NULL) {
      list->messages = more;
      list->room = room;
    }
  }
  if (list->count < list->room) {
    list->messages[list->count++] = *message;
    count_up(list);
  }
  pthread_mutex_unlock(&list->lock);
}

static void remove_at(struct event_list *list, uint32_t at) {
  list->count--;
  memmove(&list->messages[at], &list->messages[at + 1], (list->count - at) * sizeof *list->messages);
}

int event_list_take(struct event_list *list, struct message *message) {
  for (;;) {
    uint64_t one;
    if (read(list->file, &one, sizeof one) != sizeof one) return -1;
    pthread_mutex_lock(&list->lock);
    bool found = list->count > 0;
    if (found) {
      *message = list->messages[0];
      remove_at(list, 0);
    }
    pthread_mutex_unlock(&list->lock);
    if (found) return 0;
  }
}

void event_list_forget(struct event_list *list, enum message_kind kind, uint32_t index, uint32_t epoch) {
  pthread_mutex_lock(&list->lock);
  for (uint32_t i = 0; i < list->count;) {
    const struct message *message = &list->messages[i];
    if (message->kind != kind || message->index != index || message->epoch != epoch) {
      i++;
      continue;
    }
    remove_at(list, i);
    count_down(list);
  }
  pthread_mutex_unlock(&list->lock);
}
