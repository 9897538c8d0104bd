/* Tests of the effect of each opcode at both ends, with messages of 0 bytes to 1 MiB. */
#include <arpa/inet.h>
#include <string.h>

#include "harness.h"

static const uint32_t sizes[] = {0, 1, 7, 64, 4095, 4096, 4097, 65536, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes, FAR = 1 << 21 };

static void sent(struct ibv_wc completion, uint64_t id, enum ibv_wc_opcode opcode, uint32_t number) {
  CHECK(completion.status == IBV_WC_SUCCESS && completion.wr_id == id && completion.opcode == opcode &&
            completion.qp_num == number,
        "status %d, id %llu, opcode %d", completion.status, (unsigned long long)completion.wr_id, completion.opcode);
}

static void write_places_bytes(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  for (uint32_t i = 0; i < SIZES; i++) {
    fill(both.first->buffer, sizes[i], i);
    struct ibv_sge sge = piece(both.first, 0, sizes[i]);
    struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, i, &sge, &both.far, FAR + 3);
    CHECK(post(both.first, &wanted) == 0, "size %u", sizes[i]);
    sent(await(both.first, 1000), i, IBV_WC_RDMA_WRITE, both.first->qp->qp_num);
    uint32_t same = second_compare(both.second, FAR + 3, sizes[i], i);
    CHECK(same == sizes[i], "size %u differs at %u", sizes[i], same);
  }
  close_couple(both);
}

static void write_with_immediate_takes_a_receive(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  for (uint32_t i = 0; i < SIZES; i++) {
    CHECK(second_receive(both.second, 100 + i, 0, 0) == 0, "receive");
    fill(both.first->buffer, sizes[i], i);
    struct ibv_sge sge = piece(both.first, 0, sizes[i]);
    struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE_WITH_IMM, i, &sge, &both.far, FAR);
    wanted.imm_data = htonl(0xcafe0000 + i);
    CHECK(post(both.first, &wanted) == 0, "size %u", sizes[i]);
    struct ibv_wc got = second_await(both.second);
    if (in_child)
      sent(await(both.first, 1000), i, IBV_WC_RDMA_WRITE, both.first->qp->qp_num);
    else
      await(both.first, 1000);
    CHECK(got.status == IBV_WC_SUCCESS && got.opcode == IBV_WC_RECV_RDMA_WITH_IMM && got.wr_id == 100 + i, "opcode %d",
          got.opcode);
    CHECK((got.wc_flags & IBV_WC_WITH_IMM) != 0 && ntohl(got.imm_data) == 0xcafe0000 + i, "immediate %x", got.imm_data);
    CHECK(got.byte_len == sizes[i] && got.qp_num == both.far.number && got.src_qp == both.near.number, "length %u",
          got.byte_len);
    CHECK(second_compare(both.second, FAR, sizes[i], i) == sizes[i], "size %u", sizes[i]);
  }
  close_couple(both);
}

static void send_fills_the_posted_buffers(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  for (uint32_t i = 0; i < SIZES; i++) {
    bool immediate = i % 2 == 1;
    CHECK(second_receive(both.second, 7 + i, FAR, 1 << 20) == 0, "receive");
    fill(both.first->buffer, sizes[i], i);
    struct ibv_sge sge = piece(both.first, 0, sizes[i]);
    struct ibv_send_wr wanted = request(immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, i, &sge, &both.far, 0);
    wanted.imm_data = i;
    CHECK(post(both.first, &wanted) == 0, "size %u", sizes[i]);
    struct ibv_wc got = second_await(both.second);
    await(both.first, 1000);
    CHECK(got.status == IBV_WC_SUCCESS && got.opcode == IBV_WC_RECV && got.byte_len == sizes[i], "opcode %d, length %u",
          got.opcode, got.byte_len);
    CHECK(((got.wc_flags & IBV_WC_WITH_IMM) != 0) == immediate && (!immediate || got.imm_data == i), "flags %x",
          got.wc_flags);
    CHECK(second_compare(both.second, FAR, sizes[i], i) == sizes[i], "size %u", sizes[i]);
  }
  close_couple(both);
}

static void read_fetches_bytes(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  for (uint32_t i = 0; i < SIZES; i++) {
    second_fill(both.second, FAR + 1, sizes[i], i);
    struct ibv_sge sge = piece(both.first, 0, sizes[i]);
    struct ibv_send_wr wanted = request(IBV_WR_RDMA_READ, i, &sge, &both.far, FAR + 1);
    CHECK(post(both.first, &wanted) == 0, "size %u", sizes[i]);
    sent(await(both.first, 1000), i, IBV_WC_RDMA_READ, both.first->qp->qp_num);
    CHECK(compare(both.first->buffer, sizes[i], i) == sizes[i], "size %u", sizes[i]);
  }
  close_couple(both);
}

static void pieces_are_gathered_and_scattered(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  fill(both.first->buffer, 3000, 5);
  struct ibv_sge pieces[4] = {piece(both.first, 0, 1000), piece(both.first, 1000, 1), piece(both.first, 1001, 0),
                              piece(both.first, 1001, 1999)};
  struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, 1, pieces, &both.far, FAR);
  wanted.num_sge = 4;
  CHECK(post(both.first, &wanted) == 0, "post");
  await(both.first, 1000);
  CHECK(second_compare(both.second, FAR, 3000, 5) == 3000, "gathered wrongly");
  wanted.opcode = IBV_WR_RDMA_READ;
  memset(both.first->buffer, 0, 3000);
  CHECK(post(both.first, &wanted) == 0, "post");
  await(both.first, 1000);
  CHECK(compare(both.first->buffer, 3000, 5) == 3000, "scattered wrongly");
  close_couple(both);
}

static void inline_data_may_change_after_posting(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  uint8_t unregistered[256];
  fill(unregistered, 200, 3);
  struct ibv_sge sge = {.addr = (uintptr_t)unregistered, .length = 200};
  struct ibv_send_wr wanted = request(IBV_WR_SEND, 1, &sge, &both.far, 0);
  wanted.send_flags = IBV_SEND_INLINE;
  CHECK(post(both.first, &wanted) == 0, "post"); /* the send waits, because no receive is posted yet */
  memset(unregistered, 0, sizeof unregistered);
  CHECK(second_receive(both.second, 2, FAR, 256) == 0, "receive");
  CHECK(second_await(both.second).byte_len == 200, "length");
  CHECK(second_compare(both.second, FAR, 200, 3) == 200, "the bytes of the time of posting");
  sge.length = 257;
  CHECK(post(both.first, &wanted) == 22, "more than max_inline_data is refused");
  close_couple(both);
}

static void unsignalled_work_completes_with_the_next_signalled(bool in_child) {
  struct options options = usual_options();
  options.signals_all = false;
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  for (int round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < DEPTH; i++) {
      struct ibv_send_wr wanted = request(IBV_WR_RDMA_WRITE, i, &sge, &both.far, 8 * i);
      if (i == DEPTH - 1) wanted.send_flags = IBV_SEND_SIGNALED;
      CHECK(post(both.first, &wanted) == 0, "request %u", i);
    }
    struct ibv_send_wr more = request(IBV_WR_RDMA_WRITE, 99, &sge, &both.far, 0);
    CHECK(post(both.first, &more) == 12, "a full queue is ENOMEM until its completion has been polled");
    CHECK(await(both.first, 1000).wr_id == DEPTH - 1, "one completion");
    await_nothing(both.first, 1);
  }
  close_couple(both);
}

static void a_list_is_posted_in_order_up_to_the_bad_one(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 8);
  struct ibv_send_wr list[3], *bad = NULL;
  for (int i = 0; i < 3; i++) {
    list[i] = request(IBV_WR_RDMA_WRITE, (uint64_t)i, &sge, &both.far, 0);
    list[i].next = i < 2 ? &list[i + 1] : NULL;
  }
  list[2].num_sge = 5;
  CHECK(ibv_post_send(both.first->qp, list, &bad) == 22 && bad == &list[2], "the third is refused");
  CHECK(await(both.first, 1000).wr_id == 0 && await(both.first, 1000).wr_id == 1, "the first two are done");
  await_nothing(both.first, 5);
  close_couple(both);
}

static void a_send_waits_for_its_receive(bool in_child) {
  struct options options = usual_options();
  struct couple both = couple(&options, in_child);
  struct ibv_sge sge = piece(both.first, 0, 100);
  struct ibv_send_wr wanted = request(IBV_WR_SEND, 1, &sge, &both.far, 0);
  struct ibv_send_wr next = request(IBV_WR_RDMA_WRITE, 2, &sge, &both.far, 0);
  CHECK(post(both.first, &wanted) == 0 && post(both.first, &next) == 0, "post");
  await_nothing(both.first, 20);
  CHECK(second_receive(both.second, 3, FAR, 100) == 0, "receive");
  struct ibv_wc one = await(both.first, 1000), two = await(both.first, 1000);
  if (in_child) CHECK(one.wr_id == 1 && two.wr_id == 2, "in the order of posting");
  close_couple(both);
}

int main(int count, char **words) {
  static const struct test tests[] = {
      {"write_places_bytes", write_places_bytes},
      {"write_with_immediate_takes_a_receive", write_with_immediate_takes_a_receive},
      {"send_fills_the_posted_buffers", send_fills_the_posted_buffers},
      {"read_fetches_bytes", read_fetches_bytes},
      {"pieces_are_gathered_and_scattered", pieces_are_gathered_and_scattered},
      {"inline_data_may_change_after_posting", inline_data_may_change_after_posting},
      {"unsignalled_work_completes_with_the_next_signalled", unsignalled_work_completes_with_the_next_signalled},
      {"a_list_is_posted_in_order_up_to_the_bad_one", a_list_is_posted_in_order_up_to_the_bad_one},
      {"a_send_waits_for_its_receive", a_send_waits_for_its_receive},
      {NULL, NULL}};
  return run_tests(tests, count, words);
}
