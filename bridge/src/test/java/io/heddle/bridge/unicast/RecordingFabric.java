package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;

/** Fabric that delivers nothing, and records the packets that are sent into it. */
class RecordingFabric implements FabricPort {
  final List<String> sendPaths = new ArrayList<>();
  final List<byte[]> sent = new ArrayList<>();
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
    return "";
  }

  @Override
  public void retire(SendPath sendPath) {}

  @Override
  public void join(GroupAddress group) {}

  @Override
  public void leave(Gid group) {}

  @Override
  public SendPath sendPathTo(GroupAddress group, int trafficClass) {
    throw new AssertionError("no path to group " + group);
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    sendPaths.add(source + " to " + destination);
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
  public boolean isIntact(int train, long packet, int covered, int crc) {
    throw new AssertionError("no packet came");
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
  public void discard() {}

  @Override
  public void close() {}
}
