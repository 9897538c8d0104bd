package io.heddle.verbs;

import io.heddle.platform.Errno;
import java.util.List;
import java.util.OptionalInt;

/** An opened device: the root of the ownership tree. */
public interface DeviceContext extends AutoCloseable {
  /** The key of the partition that each port is a member of. */
  int DEFAULT_PARTITION = 0xffff;

  RdmaDevice device();

  DeviceAttributes attributes();

  /** The state of the port, read anew at each call. */
  PortAttributes port();

  /** The port's GIDs, read anew at each call. */
  GidTable gidTable();

  /**
   * Where a partition key is in the port's table; empty where it isn't there. Ethernet has one
   * partition, the default one.
   *
   * @param key 16 bits, the highest of which is set for full members
   */
  default OptionalInt partitionIndex(int key) {
    return key == DEFAULT_PARTITION ? OptionalInt.of(0) : OptionalInt.empty();
  }

  /**
   * Length that a single RDMA WRITE should have for this device to be fast, in bytes; a multiple of
   * 128. The soft device asks for what fills one train of packets at this path MTU.
   */
  int preferredWriteBytes(PathMtu mtu);

  /** Local addresses that one queue pair can send over at the same time. */
  default int mostLinks() {
    return 1;
  }

  ProtectionDomain allocateProtectionDomain();

  /**
   * @param capacity completions that it can hold at least; a queue that overruns goes to error with
   *     its queue pairs
   */
  CompletionQueue createCompletionQueue(int capacity);

  /**
   * The same with a {@linkplain CompletionQueue#descriptor descriptor} that a thread can sleep on;
   * EOPNOTSUPP where there is none.
   */
  default CompletionQueue createWakingCompletionQueue(int capacity) {
    throw new VerbsException(
        "create_comp_channel", device().name() + ", which wakes nobody", Errno.EOPNOTSUPP);
  }

  /**
   * Makes what progress the device needs software for: sends queued packets, takes received ones,
   * serves timers. Never blocks; returns at once when another thread is at it. Any thread.
   *
   * @return the amount of work done, 0 where there was none or the device needs no help
   */
  int progress();

  /**
   * When a thread's call of {@link #progress} has last ended, by the device's clock in ns: another
   * value means another call. Whoever finds one since its own last look may do without a look. 0
   * where the device needs no help. Any thread.
   */
  long progressedAtNs();

  /**
   * Where {@link #progressedAtNs} stands in native memory, for those who aren't in Java: 8 bytes,
   * there as long as the process. 0 where it stands nowhere.
   */
  default long progressedAtAddress() {
    return 0;
  }

  /**
   * Hands queued asynchronous events to the listener and returns how many there were. Control
   * thread.
   */
  int pollAsyncEvents(AsyncEventListener listener);

  /**
   * Tries what this host lets the device do that makes it faster, and that no attribute tells;
   * nothing by default. Control path: it takes milliseconds, or a second where nothing arrives.
   */
  default List<DeviceTrial> tryOut() {
    return List.of();
  }

  /**
   * A number that is another one once the device has sent or received something, or has waited for
   * an answer in vain. While it stays, no queue pair has anything new to say of {@link
   * QueuePair#resentPackets} and {@link QueuePair#linkCounts}, or begins to wait for its peer. 0
   * where queue pairs tell nothing of that. Any thread.
   */
  default long activity() {
    return 0;
  }

  /** Hands what the device counts by itself to the reader; nothing by default. Control thread. */
  default void readCounters(CounterReader reader) {}

  /** Hears of a device's counters. */
  interface CounterReader {
    /**
     * @param name in snake case
     * @param value since the device was opened, or since the host knows it
     */
    void counter(String name, long value);
  }

  /**
   * Closes what was created from this context and is still open, children first, then the context.
   */
  @Override
  void close();
}
