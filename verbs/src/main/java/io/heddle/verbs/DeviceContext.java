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

  /** Queries and returns the port's state. */
  PortAttributes port();

  /** Queries and returns the port's GIDs. */
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
   * thread can sleep on. Fails with EOPNOTSUPP if the device has no such descriptor.
   */
  default CompletionQueue createPollableCompletionQueue(int capacity) {
    throw new VerbsException(
        "create_comp_channel",
        device().name() + ", which has no completion channels",
        Errno.EOPNOTSUPP);
  }

  /**
   * Does the device's work in software: sends queued packets, takes received ones, serves timers.
   * Never blocks; returns at once if another thread is doing this work. Any thread may call it.
   *
   * @return amount of work done; 0 if there was none, or if hardware does the work
   */
  int progress();

  /**
   * Returns the time at which the most recent call of {@link #progress} by any thread ended, in ns
   * of the device's clock; 0 if hardware does the work. A caller that sees a new value may skip its
   * own call of {@link #progress}. Any thread may call it.
   */
  long progressedAtNs();

  /**
   * Returns the address of the value of {@link #progressedAtNs}, for native code; 0 if the device
   * has no such address. The 8 bytes are valid until the process ends.
   */
  default long progressedAtAddress() {
    return 0;
  }

  /**
   * Passes queued asynchronous events of the port and of the whole device to the listener, and
   * returns their number. Called on the control thread.
   */
  int pollAsyncEvents(AsyncEventListener listener);

  /**
   * Tries host features that make the device faster and that no attribute reports. By default,
   * there are none to try. For the control path: takes milliseconds, or a second if a trial's
   * packets don't arrive.
   */
  default List<DeviceTrial> runTrials() {
    return List.of();
  }

  /**
   * Returns a number that changes once the device has sent or received something, or a wait for an
   * acknowledgement has timed out. While the number stays the same, {@link QueuePair#resentPackets}
   * and {@link QueuePair#linkCounts} don't change, and no queue pair begins to wait for its peer.
   * Returns 0 if the device's queue pairs report none of these. Any thread may call it.
   */
  default long activity() {
    return 0;
  }

  /**
   * Passes the device's own counters to the reader. By default, a device has none. Called on the
   * control thread.
   */
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
