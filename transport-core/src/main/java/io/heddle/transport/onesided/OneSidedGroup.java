package io.heddle.transport.onesided;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.ProcessLimits;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.device.PeerFailure;
import io.heddle.transport.device.TransportResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One rank's end of the group of a communicator's ranks, which access each other's memory; the
 * result of NCCL's one-sided {@code connect}.
 *
 * <p>NCCL's progress thread starts operations and drives progress; its service thread registers
 * memory, creates contexts and closes. A lock allows any thread to call any method.
 */
public final class OneSidedGroup implements AutoCloseable {
  /** Returned in place of a request where there is nothing to wait for. */
  public static final long NOTHING = 0;

  /*
   * Limit of a wait for additions: the adapter's own reads and writes take some microseconds, and
   * the failure of a plane takes a second.
   */
  private static final long DRAIN_LIMIT_NS = 5_000_000_000L;

  private static final int LINES = 1 << 17;
  private static final long LINES_AT = RequestLines.BYTES;
  private static final long BYTES = LINES_AT + (long) LINES * RequestLines.BYTES;

  private final PeerConnector connector;
  private final Log log;
  private final int rank;
  private final byte[][] handles;
  private final @Nullable Peer[] peers;
  private final List<OneSidedTarget> signals = new ArrayList<>();
  private final Directory directory;
  private final DeviceSignalWords deviceWords;
  private final long base;
  private final RequestLines lines;
  /* Operations by request line, each allocated at the line's first use. */
  private @Nullable OneSidedOperation[] operations = new OneSidedOperation[16];
  private int contexts;
  private int trafficClass = -1;
  private int result = TransportResult.SUCCESS;
  private boolean closed;

  /**
   * @param handles connection handles of all ranks, by rank
   * @throws HeddleException when there is no memory
   */
  OneSidedGroup(NetDevice device, PeerConnector connector, byte[][] handles, int rank, Log log) {
    if (rank < 0 || rank >= handles.length) {
      throw new HeddleException(
          "a group of %s ranks has no rank %s".formatted(handles.length, rank));
    }
    this.connector = connector;
    this.log = log;
    this.rank = rank;
    this.handles = handles;
    peers = new Peer[handles.length];
    base = MemoryCalls.mapMemory(BYTES);
    if (base < 0) {
      throw new HeddleException(
          "no memory for another one-sided group: %s bytes, %s; %s"
              .formatted(BYTES, Errno.describe((int) -base), ProcessLimits.ofMemory()));
    }
    MemoryCalls.adviseSmallPages(base, BYTES);
    lines = new RequestLines(base + LINES_AT, LINES, base);
    deviceWords = new DeviceSignalWords(device, lines, log);
    try {
      directory = new Directory(device.memory(), device.pd(), deviceWords);
    } catch (RuntimeException refused) {
      MemoryCalls.unmapMemory(base, BYTES);
      throw refused;
    }
  }

  /** Returns the address of the group's {@code struct heddle_comm}. */
  public long address() {
    return base;
  }

  /**
   * Creates contexts, which aren't ordered among each other.
   *
   * @param trafficClassAsked traffic class of connections that are made later; -1 where undefined
   * @return the number of the first context; the others follow
   */
  public synchronized int createContexts(int count, int trafficClassAsked) {
    if (count < 1 || count > ContextOrder.MOST_CONTEXTS - contexts) {
      throw new HeddleException(
          "%s contexts can't be made: a group has had %s, and may have %s"
              .formatted(count, contexts, ContextOrder.MOST_CONTEXTS));
    }
    if (trafficClass < 0) {
      trafficClass = trafficClassAsked;
    }
    int first = contexts;
    contexts += count;
    return first;
  }

  /**
   * Registers memory by {@link Directory#register}. Returns the registration's number, or a negated
   * result code.
   */
  public long register(long address, long lengthBytes, int type) {
    return directory.register(address, lengthBytes, type);
  }

  /**
   * Registers a dma-buf by {@link Directory#registerDmaBuf}. Returns the registration's number, or
   * a negated result code.
   */
  public long registerDmaBuf(
      long address, long lengthBytes, int type, long offset, int descriptor) {
    return directory.registerDmaBuf(address, lengthBytes, type, offset, descriptor);
  }

  /**
   * Deregisters memory. First adds all signals that have arrived to their words, some of which may
   * be in this memory. The operations of these signals may already be complete at their initiators.
   *
   * @return a result code
   */
  public int deregister(long registration) {
    int code = progress();
    long end = System.nanoTime() + DRAIN_LIMIT_NS;
    while (code == TransportResult.SUCCESS
        && !deviceWords.isIdle()
        && System.nanoTime() - end < 0) {
      Thread.yield();
      code = progress();
    }
    boolean found = directory.deregister(registration);
    signals().forEach(OneSidedGroup::awaitBaton);
    return found ? TransportResult.SUCCESS : TransportResult.INVALID_ARGUMENT;
  }

  private synchronized List<OneSidedTarget> signals() {
    return List.copyOf(signals);
  }

  /*
   * Waits until no thread adds to a signal word that it looked up before the deregistration; such a
   * thread holds the baton.
   */
  private static void awaitBaton(OneSidedTarget end) {
    end.baton().spinUntilTaken();
    end.baton().release();
  }

  /**
   * Starts an operation on a rank.
   *
   * @param local number of the registration of this rank's bytes, if any
   * @param localOffset offset of the first byte in that registration
   * @param operation description of the operation; the caller owns it, and may reuse it after the
   *     call
   * @return the address of a {@code struct heddle_request}, {@link #NOTHING} where there is nothing
   *     to do, or a negated result code
   */
  public synchronized long start(
      int target, long local, long localOffset, OneSidedOperation operation) {
    if (result != TransportResult.SUCCESS) {
      return -result;
    }
    String wrong = fault(target, local, localOffset, operation);
    if (wrong != null) {
      log.warn("a one-sided operation on rank %d is refused: %s", target, wrong);
      return -TransportResult.INVALID_ARGUMENT;
    }
    int line = lines.claim();
    if (line < 0) {
      return -noFreeLine();
    }
    operation.line = line;
    if (operation.lengthBytes == 0 && operation.signal == OneSidedOperation.Signal.NONE) {
      lines.complete(line, 1);
      return lines.address(line);
    }
    int code = TransportResult.INTERNAL_ERROR;
    try {
      code = peer(target).submit(copyOf(operation));
    } catch (HeddleException refused) {
      code = resultOf(refused);
    } finally {
      latch(code);
    }
    return code == TransportResult.SUCCESS ? lines.address(line) : -code;
  }

  private OneSidedOperation copyOf(OneSidedOperation operation) {
    if (operation.line >= operations.length) {
      operations = Arrays.copyOf(operations, Integer.highestOneBit(operation.line) << 1);
    }
    OneSidedOperation own = operations[operation.line];
    if (own == null) {
      own = new OneSidedOperation();
      operations[operation.line] = own;
    }
    own.set(operation);
    return own;
  }

  private @Nullable String fault(
      int target, long local, long localOffset, OneSidedOperation operation) {
    if (target < 0 || target >= peers.length) {
      return "the group has %s ranks".formatted(peers.length);
    }
    if (operation.lengthBytes < 0) {
      return "its length is %s".formatted(operation.lengthBytes);
    }
    if (operation.lengthBytes > OneSidedOperation.MOST_BYTES) {
      return "it has %s bytes, and the maximum is %s; split it"
          .formatted(operation.lengthBytes, OneSidedOperation.MOST_BYTES);
    }
    if (operation.lengthBytes > 0) {
      Directory.Registered found = directory.find(local);
      if (found == null) {
        return "registration %s of this rank isn't there".formatted(local);
      }
      if (!found.covers(localOffset, operation.lengthBytes)) {
        return "%s bytes at %s aren't within the %s bytes of registration %s"
            .formatted(operation.lengthBytes, localOffset, found.lengthBytes(), local);
      }
      operation.localAddress = found.address() + localOffset;
      operation.localKey = found.localKey();
    }
    if (operation.signal != OneSidedOperation.Signal.NONE && operation.signalOffset % 8 != 0) {
      return "its signal's word is at %s, not a multiple of 8".formatted(operation.signalOffset);
    }
    boolean numbered =
        (operation.lengthBytes == 0 || isInRange(operation.registration))
            && (operation.signal == OneSidedOperation.Signal.NONE
                || isInRange(operation.signalRegistration));
    return numbered ? null : "it names memory that was never registered";
  }

  private static boolean isInRange(int registration) {
    return registration >= 0 && registration < Directory.MOST;
  }

  private Peer peer(int target) {
    Peer found = peers[target];
    if (found == null) {
      try (var arena = java.lang.foreign.Arena.ofConfined()) {
        long handle =
            arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_BYTE, handles[target]).address();
        found = new Peer(connector.connect(trafficClass, handle, lines));
      }
      peers[target] = found;
    }
    return found;
  }

  /* Logs a failure to connect and returns its result code. */
  private int resultOf(HeddleException refused) {
    log.warn("one-sided group, rank %d: %s", rank, String.valueOf(refused.getMessage()));
    return refused instanceof PeerFailure
        ? TransportResult.REMOTE_ERROR
        : TransportResult.SYSTEM_ERROR;
  }

  /*
   * Ends the group and its pending requests with the first failure. An internal failure ends it,
   * too, since the group's state may be inconsistent. The caller logs the failure.
   */
  private void latch(int code) {
    if (code != TransportResult.SUCCESS && result == TransportResult.SUCCESS) {
      result = code;
      lines.failPending(code);
    }
  }

  /** Drives all connections and requests; never blocks. Returns a result code. */
  public synchronized int progress() {
    if (result != TransportResult.SUCCESS) {
      return result;
    }
    int code = TransportResult.INTERNAL_ERROR;
    try {
      code = driveAll();
    } catch (HeddleException refused) {
      code = resultOf(refused);
    } finally {
      latch(code);
    }
    return result;
  }

  private int driveAll() {
    for (OneSidedTarget came = connector.accept(); came != null; came = connector.accept()) {
      came.openMemory(directory);
      signals.add(came);
    }
    int code = TransportResult.SUCCESS;
    for (int i = 0; i < signals.size() && code == TransportResult.SUCCESS; i++) {
      code = signals.get(i).progress();
    }
    for (int i = 0; i < peers.length && code == TransportResult.SUCCESS; i++) {
      Peer peer = peers[i];
      code = peer == null ? TransportResult.SUCCESS : peer.progress();
    }
    String failed = code == TransportResult.SUCCESS ? deviceWords.progress() : null;
    if (failed != null) {
      log.warn("one-sided group, rank %d: %s", rank, failed);
      code = TransportResult.SYSTEM_ERROR;
    }
    return code;
  }

  /**
   * Flushes this rank's gets: makes visible the data that they have read into a registration. Data
   * in host memory is visible already.
   *
   * @return the address of a {@code struct heddle_request}, {@link #NOTHING} where there is nothing
   *     to wait for, or a negated result code
   */
  public synchronized long flush(int target, long registration) {
    if (result != TransportResult.SUCCESS) {
      return -result;
    }
    if (target < 0 || target >= peers.length) {
      log.warn("a flush of rank %d is refused: the group has %s ranks", target, peers.length);
      return -TransportResult.INVALID_ARGUMENT;
    }
    Peer peer = peers[target];
    if (peer != null) {
      peer.countFlush();
    }
    Directory.Registered memory = directory.find(registration);
    if (memory == null || !memory.onDevice()) {
      return NOTHING;
    }
    int line = lines.claim();
    if (line < 0) {
      return -noFreeLine();
    }
    deviceWords.flush(line, memory);
    return lines.address(line);
  }

  private int noFreeLine() {
    log.warn("%d one-sided requests are in flight, the maximum", LINES);
    return TransportResult.INTERNAL_ERROR;
  }

  /** Returns whether the group has failed, or is closed. Any thread. */
  public synchronized boolean hasFailed() {
    return result != TransportResult.SUCCESS;
  }

  /** Returns both ends of all current connections of the group. Any thread. */
  public synchronized List<Communicator> communicators() {
    List<Communicator> all = new ArrayList<>(signals);
    for (Peer peer : peers) {
      OneSidedInitiator initiator = peer == null ? null : peer.initiator();
      if (initiator != null) {
        all.add(initiator);
      }
    }
    return all;
  }

  /** Closes the group; operations in flight never complete. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    /* With this result, later calls return before they touch the closed parts. */
    if (result == TransportResult.SUCCESS) {
      result = TransportResult.INVALID_USAGE;
    }
    connector.close();
    for (Peer peer : peers) {
      if (peer != null) {
        peer.close();
      }
    }
    signals.forEach(OneSidedTarget::close);
    deviceWords.close();
    directory.close();
    MemoryCalls.unmapMemory(base, BYTES);
  }

  /** Returns the size of a rank's handle. */
  public static int handleBytes() {
    return ConnectionHandle.BYTES;
  }
}
