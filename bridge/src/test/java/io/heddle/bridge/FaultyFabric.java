package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.Way;
import io.heddle.bridge.group.GroupAddress;
import io.heddle.bridge.group.LoopRules;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A fabric that fails when it is looked at, as one does whose counters are gone. */
final class FaultyFabric implements FabricPort {
  final AtomicInteger polls = new AtomicInteger();
  final AtomicInteger discards = new AtomicInteger();
  /* Looks that fail, at first. */
  private final int failures;
  /* A look waits for it, as in a call that doesn't come back. */
  volatile CountDownLatch hangs = new CountDownLatch(0);
  /* What is wrong with it, as whoever looks is told. */
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
  public boolean mayRest() {
    return true;
  }

  @Override
  public boolean keepsHeaders() {
    return true;
  }

  @Override
  public void countAt(long counters) {}

  @Override
  public String look() {
    return state;
  }

  @Override
  public void retire(Way way) {}

  @Override
  public void join(GroupAddress group) {}

  @Override
  public void leave(Gid group) {}

  @Override
  public Way wayTo(GroupAddress group, int trafficClass) {
    throw new AssertionError("no way to " + group);
  }

  @Override
  public Way wayBetween(Gid source, Gid destination, int trafficClass) {
    throw new AssertionError("no way to " + destination);
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
  public boolean isRight(int train, long packet, int covered, int crc) {
    throw new AssertionError("no packet came");
  }

  @Override
  public void send(Way way, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
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
