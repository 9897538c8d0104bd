package io.heddle.bridge.fabric;

import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.verbs.QueuePairPort;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Port of a test, with both sides. It delivers the packet that the test has put, and records the
 * packets that are sent. Its polls may fail, as with a truncated status file, or wait.
 */
public final class StubFabric implements QueuePairPort, PacketPort {
  public final AtomicInteger polls = new AtomicInteger();
  public final AtomicInteger discards = new AtomicInteger();
  public final List<String> sendPaths = new ArrayList<>();
  public final List<byte[]> sent = new ArrayList<>();
  public final List<Integer> crcs = new ArrayList<>();
  /* Each poll waits for this latch, like a call that doesn't return. */
  public volatile CountDownLatch hangs = new CountDownLatch(0);
  /* Fault that each check returns; empty for none. */
  public String state = "";
  private final TrainBatch batch = new TrainBatch(1);
  private final Map<String, SendPath> made = new HashMap<>();
  private final @Nullable SubnetHosts hosts;
  private final int[] numbers;
  private int failures;

  /**
   * @param numbers numbers of the port's queue pairs
   */
  public StubFabric(int... numbers) {
    this(null, numbers);
  }

  /**
   * @param hosts map from hosts to ports, as on InfiniBand; null if packets contain hosts'
   *     addresses
   */
  public StubFabric(@Nullable SubnetHosts hosts, int... numbers) {
    this.hosts = hosts;
    this.numbers = numbers.clone();
  }

  /** Makes this many polls fail; later ones succeed. */
  public StubFabric failing(int times) {
    failures = times;
    return this;
  }

  /**
   * Puts a packet into the batch.
   *
   * @param packet address of the packet, which has all bytes from the BTH to the end of the CRC
   */
  public void put(long packet, int lengthBytes, Gid source, Gid destination) {
    batch.address[0] = packet;
    batch.lengthBytes[0] = lengthBytes;
    batch.strideBytes[0] = lengthBytes;
    batch.sourceHigh[0] = source.high();
    batch.sourceLow[0] = source.low();
    batch.destinationHigh[0] = destination.high();
    batch.destinationLow[0] = destination.low();
  }

  @Override
  public String name() {
    return "stub";
  }

  @Override
  public String describe() {
    return "a fabric of the test";
  }

  @Override
  public List<Gid> ownAddresses() {
    return List.of();
  }

  @Override
  public List<LoopRules.Prefix> ownPrefixes() {
    return List.of();
  }

  @Override
  public PacketPort packets() {
    return this;
  }

  @Override
  public String check() {
    return state;
  }

  @Override
  public void join(GroupAddress group) {}

  @Override
  public void leave(Gid group) {}

  @Override
  public SendPath sendPathTo(GroupAddress group, int trafficClass) {
    throw new AssertionError("no path to group " + group);
  }

  @Override
  public void retire(SendPath sendPath) {}

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    String ends = source + " to " + destination;
    sendPaths.add(ends);
    return made.computeIfAbsent(ends, first -> new SendPath() {});
  }

  @Override
  public @Nullable SendPath readySendPath(Gid source, Gid destination) {
    return made.get(source + " to " + destination);
  }

  @Override
  public @Nullable SubnetHosts hosts() {
    return hosts;
  }

  @Override
  public int[] numbers() {
    return numbers.clone();
  }

  @Override
  public int descriptor() {
    return -1;
  }

  @Override
  public boolean maySleep() {
    return true;
  }

  @Override
  public int mostBytes(boolean ipv4) {
    return 1472;
  }

  @Override
  public boolean keepsHeaders() {
    return true;
  }

  @Override
  public int poll() {
    try {
      hangs.await();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
    if (polls.incrementAndGet() <= failures) {
      throw new InternalError("a fault occurred in an unsafe memory access operation");
    }
    return 0;
  }

  @Override
  public TrainBatch batch() {
    return batch;
  }

  @Override
  public int checksum(long packet, int covered) {
    return 0;
  }

  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    return true;
  }

  @Override
  public void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
    sent.add(Memory.toArray(packet, lengthBytes));
    crcs.add(crc);
  }

  @Override
  public void flush() {}

  @Override
  public void discard() {
    discards.incrementAndGet();
  }

  @Override
  public void close() {}
}
