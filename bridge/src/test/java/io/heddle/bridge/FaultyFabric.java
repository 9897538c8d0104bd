package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Fabric whose polls fail, as with a truncated status file. */
final class FaultyFabric implements FabricPort {
  final AtomicInteger polls = new AtomicInteger();
  final AtomicInteger discards = new AtomicInteger();
  /* Number of polls that fail; later ones succeed. */
  private final int failures;
  /* Each poll waits for this latch, like a call that doesn't return. */
  volatile CountDownLatch hangs = new CountDownLatch(0);
  /* Fault that each check returns; empty for none. */
  String state = "";

  FaultyFabric(int failures) {
    this.failures = failures;
  }

  @Override
  public String name() {
    return "faulty";
  }

  @Override
  public String describe() {
    return "a fabric that fails";
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
  public int descriptor() {
    return -1;
  }

  @Override
  public int mostBytes(boolean ipv4) {
    return 1472;
  }

  @Override
  public boolean maySleep() {
    return true;
  }

  @Override
  public boolean keepsHeaders() {
    return true;
  }

  @Override
  public void countAt(long counters) {}

  @Override
  public String check() {
    return state;
  }

  @Override
  public void retire(SendPath sendPath) {}

  @Override
  public void join(GroupAddress group) {}

  @Override
  public void leave(Gid group) {}

  @Override
  public SendPath sendPathTo(GroupAddress group, int trafficClass) {
    throw new AssertionError("no path to " + group);
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    throw new AssertionError("no path to " + destination);
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
    return null;
  }

  @Override
  public int checksum(long packet, int covered) {
    throw new AssertionError("no packet came");
  }

  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    throw new AssertionError("no packet came");
  }

  @Override
  public void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
    throw new AssertionError("no packet came");
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
