package io.heddle.perftest;

import io.heddle.verbs.SendWorkRequest.Operation;

/** Tests, with perftest's names, defaults and protocol variants. */
enum TestKind {
  WRITE_BW("write_bw", "RDMA_Write BW Test", Operation.RDMA_WRITE, false),
  SEND_BW("send_bw", "Send BW Test", Operation.SEND, false),
  READ_BW("read_bw", "RDMA_Read BW Test", Operation.RDMA_READ, false),
  WRITE_LAT("write_lat", "RDMA_Write Latency Test", Operation.RDMA_WRITE, true),
  SEND_LAT("send_lat", "Send Latency Test", Operation.SEND, true);

  private final String commandName;
  private final String title;
  private final Operation operation;
  private final boolean latency;

  TestKind(String commandName, String title, Operation operation, boolean latency) {
    this.commandName = commandName;
    this.title = title;
    this.operation = operation;
    this.latency = latency;
  }

  String commandName() {
    return commandName;
  }

  String title() {
    return title;
  }

  Operation operation() {
    return operation;
  }

  boolean isLatency() {
    return latency;
  }

  boolean isSend() {
    return operation == Operation.SEND;
  }

  boolean isRead() {
    return operation == Operation.RDMA_READ;
  }

  long defaultSizeBytes() {
    return latency ? 2 : 65_536;
  }

  long defaultIterations() {
    return this == WRITE_BW ? 5_000 : 1_000;
  }

  int defaultSendDepth() {
    return latency ? 1 : 128;
  }

  int defaultInlineBytes() {
    return !latency ? 0 : isSend() ? 236 : 220;
  }

  int defaultReceiveDepth() {
    return isSend() ? 512 : 1;
  }

  /**
   * Returns whether the ends exchange the record of their first queue pair once more before all
   * others, as in write_lat.
   */
  boolean startsWithRecordOfFirst() {
    return this == WRITE_LAT;
  }

  /**
   * Returns whether the ends synchronise right after connecting, as the tests with SEND do. The
   * other tests synchronise after they have exchanged their records a second time.
   */
  boolean synchronisesBeforeSecondRound() {
    return isSend();
  }

  /** Returns whether the ends exchange a last record. write_lat ends without it. */
  boolean endsWithGoodbye() {
    return this != WRITE_LAT;
  }
}
