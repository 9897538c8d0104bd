/* Tests of rate and latency: the delays that they cause, and that they reorder nothing. */
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

enum { FAR = 1 << 21 };

/* Returns the microseconds from posting to the completion of the last of `count` writes. */
static double microseconds(struct couple *both, enum ibv_wr_opcode opcode, uint32_t length, uint32_t count) {
  struct ibv_sge sge = piece(both->first, 0, length);
  uint64_t begin = clock_ns();
  for (uint32_t i = 0; i < count; i++) {
    struct ibv_send_wr wanted = request(opcode, i, &sge, &both->far, FAR);
    CHECK(post(both->first, &wanted) == 0, "post");
  }
  for (uint32_t i = 0; i < count; i++) {
    struct ibv_wc completion = await(both->first, 10000);
    CHECK(completion.status == IBV_WC_SUCCESS && completion.wr_id == i, "status %d", completion.status);
  }
  return (double)(clock_ns() - begin) / 1e3;
}

/* Returns the least time of several rounds, since a busy machine may slow a round down but never speed it up. */
static double least(struct couple *both, enum ibv_wr_opcode opcode, uint32_t length, uint32_t count) {
  double least = 1e12;
  for (int round = 0; round < 5; round++) {
    double now = microseconds(both, opcode, length, count);
    if (now < least) least = now;
  }
  return least;
}

static void a_write_takes_a_round_trip(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("latency 0/0 2000");
  for (int reads = 0; reads <= 1; reads++) {
    double took = least(&both, reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 8, 1);
    CHECK(took >= 4000 && took < 50000, "%.0f us", took);
  }
  close_couple(both);
}

static void nothing_is_written_before_its_time(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("latency 0/0 100000");
  second_fill(both.second, FAR, 64, 1);
  fill(both.first->buffer, 64, 2);
  struct ibv_sge sge = piece(both.first, 0, 64);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, FAR);
  uint64_t begin = clock_ns();
  CHECK(post(both.first, &wanted) == 0, "post");
  bool same = second_compare(both.second, FAR, 64, 1) == 64;
  if (clock_ns() - begin < 90000000) CHECK(same, "it was there at once");
  await(both.first, 2000);
  CHECK(clock_ns() - begin >= 200000000, "too early");
  CHECK(second_compare(both.second, FAR, 64, 2) == 64, "it isn't there");
  close_couple(both);
}

/* Without a polling thread, the stand-in library's own thread must complete the transfers. */
static void due_transfers_complete_without_polling(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("latency 0/0 1000");
  fill(both.first->buffer, 64, 3);
  struct ibv_sge sge = piece(both.first, 0, 64);
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, &sge, &both.far, FAR);
  CHECK(post(both.first, &wanted) == 0, "post");
  for (int i = 0; i < 1000 && second_compare(both.second, FAR, 64, 3) != 64; i++) usleep(1000);
  CHECK(second_compare(both.second, FAR, 64, 3) == 64, "it wasn't done");
  await(both.first, 1000);
  close_couple(both);
}

static void a_rate_bounds_the_sum_of_all_pairs(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  control("rate 0/0 1"); /* 1 MiB takes 8.6 ms at this rate */
  double took = least(&both, IBV_WR_RDMA_WRITE, 1 << 18, 4);
  CHECK(took >= 8400 && took < 80000, "%.0f us", took);
  struct couple other = couple(&options, false);
  struct ibv_sge sge = piece(other.first, 0, 1 << 18);
  uint64_t begin = clock_ns();
  struct ibv_send_wr more = request(IBV_WR_RDMA_WRITE, 0, &sge, &other.far, FAR);
  CHECK(post(other.first, &more) == 0 && post(other.first, &more) == 0, "post");
  microseconds(&both, IBV_WR_RDMA_WRITE, 1 << 18, 2);
  await(other.first, 1000);
  await(other.first, 1000);
  CHECK(clock_ns() - begin >= 8400000, "two connections share the port");
  close_couple(other);
  close_couple(both);
}

static void order_holds_at_every_rate(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  for (uint32_t i = 0; i < 32; i++) CHECK(second_receive(both.second, i, FAR + 64 * i, 64) == 0, "receive");
  control("rate %d/0 0.1", in_child);
  control("latency 0/0 300");
  for (uint32_t i = 0; i < 32; i++) {
    uint32_t length = i % 3 == 0 ? 64 : 1;
    fill(both.first->buffer + 64 * i, 64, i);
    struct ibv_sge sge = piece(both.first, 64 * i, length);
    struct ibv_send_wr wanted = request(IBV_WR_SEND, 100 + i, &sge, &both.far, 0);
    CHECK(post(both.first, &wanted) == 0, "post");
    if (i == 16) {
      control("rate %d/0 0", in_child);
      control("latency 0/0 0");
    }
  }
  for (uint32_t i = 0; i < 32; i++) {
    CHECK(await(both.first, 5000).wr_id == 100 + i, "the sender's order");
    CHECK(second_await(both.second).wr_id == i, "the receiver's order");
    CHECK(second_compare(both.second, FAR + 64 * i, i % 3 == 0 ? 64 : 1, i) == (i % 3 == 0 ? 64 : 1), "message %u", i);
  }
  close_couple(both);
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"a_write_takes_a_round_trip", a_write_takes_a_round_trip},
      {"nothing_is_written_before_its_time", nothing_is_written_before_its_time},
      {"due_transfers_complete_without_polling", due_transfers_complete_without_polling},
      {"a_rate_bounds_the_sum_of_all_pairs", a_rate_bounds_the_sum_of_all_pairs},
      {"order_holds_at_every_rate", order_holds_at_every_rate},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
