package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.Way;
import io.heddle.bridge.group.GroupAddress;
import io.heddle.bridge.group.LoopRules;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;

/** A fabric that nothing comes from, and that keeps what is sent there. */
class SpokenFabric implements FabricPort {
  final List<String> ways = new ArrayList<>();
  final List<byte[]> said = new ArrayList<>();
  final List<Integer> crcs = new ArrayList<>();

  @Override
  public String name() {
    return "spoken";
  }

  @Override
  public String describe() {
    return "a fabric that keeps what is sent";
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
    return "";
  }

  @Override
  public void retire(Way way) {}

  @Override
  public void join(GroupAddress group) {}

  @Override
  public void leave(Gid group) {}

  @Override
  public Way wayTo(GroupAddress group, int trafficClass) {
    throw new AssertionError("no way to group " + group);
  }

  @Override
  public Way wayBetween(Gid source, Gid destination, int trafficClass) {
    ways.add(source + " to " + destination);
    return null;
  }

  @Override
  public int poll() {
    return 0;
  }

  @Override
  public TrainBatch batch() {
    throw new AssertionError("no packet came");
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
    said.add(Memory.toArray(packet, lengthBytes));
    crcs.add(crc);
  }

  @Override
  public void flush() {}

  @Override
  public void discard() {}

  @Override
  public void close() {}
}
