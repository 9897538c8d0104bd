package io.heddle.verbs;

import io.heddle.platform.Errno;
import java.util.List;
import java.util.OptionalInt;

/** Open device: the root of the ownership tree (ibv_context). */
public interface DeviceContext extends AutoCloseable {
  /** Key of the default partition, of which every port is a member. */
  int DEFAULT_PARTITION = 0xffff;

  RdmaDevice device();

  DeviceAttributes attributes();

  /** Returns the port's state; every call queries it. */
  PortAttributes port();

  /** Returns the port's GIDs; every call queries them. */
  GidTable gidTable();

  /**
   * Returns the index of a partition key in the port's table, if the table has this key. Ethernet
   * has only the default partition.
   *
   * @param key partition key of 16 bits; its highest bit is set for full members
   */
  default OptionalInt partitionIndex(int key) {
    return key == DEFAULT_PARTITION ? OptionalInt.of(0) : OptionalInt.empty();
  }

  /**
   * Returns the length of an RDMA WRITE at which this device is fast, in bytes; a multiple of 128.
   * On the soft device, a WRITE of this length fills one segmented send (UDP_SEGMENT) at this path
   * MTU.
   */
  int preferredWriteBytes(PathMtu mtu);

  /** Returns the number of local addresses that one queue pair can use at the same time. */
  default int maxLinks() {
    return 1;
  }

  ProtectionDomain allocateProtectionDomain();

  /**
   * Creates a completion queue.
   *
   * @param capacity minimum number of completions that the queue holds; a queue that overruns goes
   *     to error with its queue pairs
   */
  CompletionQueue createCompletionQueue(int capacity);

  /**
   * Creates a completion queue with a {@linkplain CompletionQueue#descriptor descriptor} that a
   * thread can sleep on. Fails with EOPNOTSUPP where the device has no such descriptor.
   */
  default CompletionQueue createPollableCompletionQueue(int capacity) {
    throw new VerbsException(
        "create_comp_channel",
        device().name() + ", which has no completion channels",
        Errno.EOPNOTSUPP);
  }

  /**
   * Does the device's work in software: sends queued packets, takes received ones, serves timers.
   * Never blocks; returns at once while another thread does this work. Any thread.
   *
   * @return amount of work done; 0 where there was none or hardware does it
   */
  int progress();

  /**
   * Returns the end of the most recent call of {@link #progress} by any thread, in ns of the
   * device's clock. A caller that sees a new value may skip its own call. 0 where hardware does the
   * work. Any thread.
   */
  long progressedAtNs();

  /**
   * Returns the address of {@link #progressedAtNs}'s value, for native code: 8 bytes, valid until
   * the process ends. 0 where the device has no such address.
   */
  default long progressedAtAddress() {
    return 0;
  }

  /** Passes queued asynchronous events to the listener and returns their number. Control thread. */
  int pollAsyncEvents(AsyncEventListener listener);

  /**
   * Tries host features that make the device faster and that no attribute reports; none by default.
   * Control path: takes milliseconds, or a second if a trial's packets don't arrive.
   */
  default List<DeviceTrial> runTrials() {
    return List.of();
  }

  /**
   * Returns a number that changes once the device has sent or received something, or a wait for an
   * acknowledgement has timed out. While the number is unchanged, so are {@link
   * QueuePair#resentPackets} and {@link QueuePair#linkCounts}, and no queue pair begins to wait for
   * its peer. 0 where queue pairs report none of these. Any thread.
   */
  default long activity() {
    return 0;
  }

  /** Passes the device's own counters to the reader; none by default. Control thread. */
  default void readCounters(CounterReader reader) {}

  /** Receiver of a device's counters. */
  interface CounterReader {
    /**
     * Receives one counter.
     *
     * @param name name of the counter, in snake case
     * @param value count since the device was opened, or since the host created it
     */
    void counter(String name, long value);
  }

  /** Closes all open objects of this context, children first, then the context. */
  @Override
  void close();
}
