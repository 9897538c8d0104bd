package io.heddle.bridge.wire;

import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** Data side of a wire port: its receiver, its sender, and their checksums. */
final class WirePackets implements PacketPort {
  private static final int IPV4_HEADERS = 28;
  private static final int IPV6_HEADERS = 48;

  private final int fd;
  private final WireReceiver receiver;
  private final WireChecksums checksums;
  private final WireSender sender;
  /* Written by the control thread. */
  private volatile int mtuBytes;

  /**
   * @param ipv4 source of packets to IPv4 groups; null for none
   * @param ipv6 source of packets to IPv6 groups; null for none
   * @param trainsIpv4 whether IPv4 packets may be sent as segment trains
   * @param counters address of the fabric's counters in the status file
   */
  WirePackets(
      Arena arena,
      int fd,
      SystemClock clock,
      @Nullable Gid ipv4,
      @Nullable Gid ipv6,
      boolean trainsIpv4,
      int mtuBytes,
      long counters) {
    this.fd = fd;
    this.mtuBytes = mtuBytes;
    receiver = new WireReceiver(arena, fd, clock, counters);
    checksums = new WireChecksums(ipv4, ipv6, receiver.base(), receiver.area());
    sender = new WireSender(arena, fd, checksums, trainsIpv4, counters);
  }

  /** Sets the MTU of packets sent from now on. */
  void setMtu(int bytes) {
    mtuBytes = bytes;
  }

  @Override
  public int descriptor() {
    return fd;
  }

  @Override
  public boolean maySleep() {
    return true;
  }

  @Override
  public int mostBytes(boolean ipv4) {
    return (mtuBytes - (ipv4 ? IPV4_HEADERS : IPV6_HEADERS)) & ~3;
  }

  @Override
  public boolean keepsHeaders() {
    return true;
  }

  @Override
  public int poll() {
    checksums.startBatch();
    return receiver.receive();
  }

  @Override
  public TrainBatch batch() {
    return receiver.batch();
  }

  @Override
  public int checksum(long packet, int covered) {
    return checksums.of(packet, covered);
  }

  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    TrainBatch batch = receiver.batch();
    int difference =
        crc ^ checksums.ofReceived(batch, train, covered) ^ Memory.getInt(packet + covered);
    return difference == 0 || checksums.isValidWith(batch, train, difference, covered);
  }

  @Override
  public void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
    sender.send((WireSendPath) sendPath, packet, lengthBytes, crc, counters, arrivedNs);
  }

  @Override
  public void flush() {
    sender.flush();
  }

  @Override
  public void discard() {
    sender.discard();
  }
}
