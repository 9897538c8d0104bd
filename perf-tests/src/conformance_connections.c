/* Cases of many communicators, of opening and closing them, and of registered memory. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance.h"
#include "rendezvous.h"

void many_communicators_in_turn(void) {
  enum { COMMS = 24 };
  void *comms[COMMS];
  connect_all(comms, COMMS);
  for (uint64_t round = 0; round < 6; round++) {
    for (int i = 0; i < COMMS; i++) one_message(comms[i], round * COMMS + (uint64_t)i, (size_t)(i * 7001), 200000, i);
  }
  barrier();
  for (int i = 0; i < COMMS; i++) close_comm(comms[i]);
}

static void *traffic_thread(void *comm) {
  random_traffic(comm, options.seed + 3, 600, 100000, 8);
  return NULL;
}

void two_threads_with_a_communicator_each(void) {
  void *comms[2];
  pthread_t threads[2];
  connect_all(comms, 2);
  for (int i = 0; i < 2; i++) WANT(pthread_create(&threads[i], NULL, traffic_thread, comms[i]) == 0, "no thread");
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  barrier();
  for (int i = 0; i < 2; i++) close_comm(comms[i]);
}

static atomic_int registering;

static void *register_thread(void *comm) {
  struct buffer buffer = make_buffer(1 << 20);
  while (atomic_load(&registering)) {
    void *whole = must_register(comm, buffer.data, buffer.size);
    void *part = must_register(comm, buffer.data + 4096, 10000);
    check(net_deregister(&net, comm, whole), "deregMr");
    check(net_deregister(&net, comm, part), "deregMr");
    usleep(100);
  }
  free(buffer.whole);
  return NULL;
}

void registration_during_traffic(void) {
  void *comm = connect_one();
  pthread_t thread;
  atomic_store(&registering, 1);
  WANT(pthread_create(&thread, NULL, register_thread, comm) == 0, "no thread");
  random_traffic(comm, options.seed + 4, 800, 100000, 8);
  atomic_store(&registering, 0);
  pthread_join(thread, NULL);
  barrier();
  close_comm(comm);
}

void parts_of_a_registered_range(void) {
  void *comm = connect_one();
  struct buffer buffer = make_buffer(1 << 20);
  void *whole = must_register(comm, buffer.data, buffer.size);
  for (int i = 0; i < 50; i++) {
    unsigned char *part = buffer.data + i * 20000;
    void *memory = must_register(comm, part, 20000);
    if (is_sender()) {
      for (size_t b = 0; b < 20000; b++) part[b] = byte_at((uint64_t)i, b);
      wait_done(must_isend(comm, part, 20000, i, memory), NULL);
    } else {
      void *data = part;
      size_t size = 20000;
      int tag = i;
      wait_done(must_irecv(comm, 1, &data, &size, &tag, &memory), NULL);
      for (size_t b = 0; b < 20000; b++) WANT(part[b] == byte_at((uint64_t)i, b), "part %d is wrong at %zu", i, b);
    }
    check(net_deregister(&net, comm, memory), "deregMr");
  }
  check(net_deregister(&net, comm, whole), "deregMr");
  free(buffer.whole);
  barrier();
  close_comm(comm);
}

/* Memory at an address outside this process, as GPU memory is. Only its dma-buf gives access to it. */
void memory_behind_a_dma_buf(void) {
  enum { OFFSET = 12288, BYTES = 3 << 20, MESSAGES = 8 };
  void *comm = connect_one();
  if ((net_pointer_support(&net, options.device) & 4) != 0) {
    int file = memfd_create("device", MFD_CLOEXEC);
    WANT(file >= 0 && ftruncate(file, OFFSET + BYTES) == 0, "no memfd");
    unsigned char *seen = mmap(NULL, OFFSET + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    WANT(seen != MAP_FAILED, "the memfd can't be mapped");
    void *place = (void *)(uintptr_t)0x700000000000, *memory = NULL, *request = NULL;
    check(net_register_dma_buf(&net, comm, place, BYTES, OFFSET, file, &memory), "regMrDmaBuf");
    WANT(memory != NULL, "regMrDmaBuf gave no handle");
    close(file);
    for (int message = 0; message < MESSAGES; message++) {
      int size = BYTES - message * 1000;
      if (is_sender()) {
        for (int i = 0; i < size; i++) seen[OFFSET + i] = byte_at((uint64_t)message, (size_t)i);
        wait_done(must_isend(comm, place, (size_t)size, message, memory), NULL);
      } else {
        size_t posted = BYTES;
        wait_done(must_irecv(comm, 1, &place, &posted, &message, &memory), NULL);
        check(net_iflush(&net, comm, 1, &place, &size, &memory, &request), "iflush");
        WANT(request != NULL, "iflush of device memory returned no request");
        wait_done(request, NULL);
        for (int i = 0; i < size; i++) {
          WANT(seen[OFFSET + i] == byte_at((uint64_t)message, (size_t)i), "message %d is wrong at %d", message, i);
        }
      }
    }
    check(net_deregister(&net, comm, memory), "deregMr");
    munmap(seen, OFFSET + BYTES);
  }
  if (!is_sender()) {
    struct buffer buffer = make_buffer(64);
    void *memory = must_register(comm, buffer.data, buffer.size), *data = buffer.data, *request = NULL;
    int size = 64;
    check(net_iflush(&net, comm, 1, &data, &size, &memory, &request), "iflush");
    WANT(request == NULL, "iflush of host memory returned a request");
    check(net_deregister(&net, comm, memory), "deregMr");
    free(buffer.whole);
  }
  barrier();
  close_comm(comm);
}

void connect_ends_before_accept_begins(void) {
  char handle[NET_HANDLE_BYTES];
  void *comm, *listen_comm = NULL;
  if (is_sender()) {
    if (rendezvous_get(options.folder, "early", RECEIVER, handle, sizeof handle, options.timeout_seconds) != 0) exit(4);
    comm = finish_connect(handle);
    barrier();
  } else {
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    if (rendezvous_put(options.folder, "early", RECEIVER, handle, sizeof handle) != 0) exit(EXIT_BAD_USAGE);
    barrier();
    comm = finish_accept(listen_comm);
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  one_message(comm, 1, 100000, 100000, 1);
  barrier();
  close_comm(comm);
}

void accept_is_polled_long_before_connect(void) {
  char handle[NET_HANDLE_BYTES];
  void *comm = NULL, *listen_comm = NULL;
  if (is_sender()) {
    if (rendezvous_get(options.folder, "late", RECEIVER, handle, sizeof handle, options.timeout_seconds) != 0) exit(4);
    barrier();
    comm = finish_connect(handle);
  } else {
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    for (int i = 0; i < 20000; i++) check(net_accept(&net, listen_comm, &comm), "accept");
    WANT(comm == NULL, "accepted nobody");
    if (rendezvous_put(options.folder, "late", RECEIVER, handle, sizeof handle) != 0) exit(EXIT_BAD_USAGE);
    barrier();
    comm = finish_accept(listen_comm);
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  one_message(comm, 2, 5000, 5000, 1);
  barrier();
  close_comm(comm);
}

void listener_without_connections_can_be_closed(void) {
  for (int i = 0; i < 20; i++) {
    char handle[NET_HANDLE_BYTES];
    void *listen_comm = NULL;
    check(net_listen(&net, options.device, handle, &listen_comm), "listen");
    check(net_close_listen(&net, listen_comm), "closeListen");
  }
  barrier();
}

void close_with_requests_in_flight(void) {
  for (int round = 0; round < 4; round++) {
    void *comm = connect_one();
    static unsigned char bytes[1 << 20];
    void *memory = must_register(comm, bytes, sizeof bytes);
    for (int i = 0; i < 10; i++) {
      void *request = NULL, *data = bytes;
      size_t size = sizeof bytes;
      int tag = 1;
      int result = is_sender() ? net_isend(&net, comm, bytes, sizeof bytes, tag, memory, &request)
                               : net_irecv(&net, comm, 1, &data, &size, &tag, &memory, &request);
      /* The other end may have closed already; a send then fails with ncclRemoteError (6). */
      bool may_be_closed = round % 2 == 0 && (is_sender() || max_receives == 1);
      WANT(result == 0 || (may_be_closed && result == 6), "request %d of a connection that is being closed: result %d",
           i, result);
    }
    if (round % 2 == 1) barrier();
    close_comm(comm);
    barrier();
  }
}

/* NCCL may still try to send while the other rank is ending. */
void sends_to_a_peer_that_closes_would_block(void) {
  void *comm = connect_one();
  static unsigned char bytes[1000];
  void *memory = must_register(comm, bytes, sizeof bytes);
  if (!is_sender()) close_comm(comm);
  barrier();
  if (is_sender()) {
    double start = now_seconds();
    while (now_seconds() - start < 0.3) {
      void *request = NULL;
      int result = net_isend(&net, comm, bytes, sizeof bytes, 1, memory, &request);
      WANT(result == 0 || (max_receives == 1 && result == 6), "a send to a peer that has closed: result %d", result);
      WANT(request == NULL || max_receives == 1, "a send to a peer that has closed was accepted");
    }
    close_comm(comm);
  }
  barrier();
}
