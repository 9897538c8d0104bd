package io.heddle.softdevice.io;

import io.heddle.platform.MemoryCalls;
import io.heddle.platform.ProcessLimits;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.RingShares;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.VerbsException;

/**
 * Packet output of a queue pair: the memory for its packets, and the sockets of its links. All
 * methods except construction and {@link #free} are called under the progress lock.
 */
public final class SocketOutlet implements PacketOutlet {
  private static final int LARGE_PAGE_BYTES = 2 << 20;

  private final SendStage sendStage;
  private final NarrowPathWarning narrowPathWarning;
  private final PeerLinks links;
  private final long mapped;
  private final int mappedBytes;
  private final long tables;
  private final PacketMemory memory;

  /**
   * @param tableBytes length of the additional memory for the queue pair's tables
   */
  public SocketOutlet(
      SendStage sendStage,
      NarrowPathWarning narrowPathWarning,
      LargeTrains trains,
      RingShares shares,
      PeerLinks links,
      int tableBytes) {
    this.sendStage = sendStage;
    this.narrowPathWarning = narrowPathWarning;
    this.links = links;
    mappedBytes = PacketMemory.BYTES + LARGE_PAGE_BYTES + tableBytes;
    mapped = MemoryCalls.mapMemory(mappedBytes);
    if (mapped < 0) {
      throw new VerbsException(
          "create_qp",
          "soft0, " + mappedBytes + " bytes of transmit ring (" + ProcessLimits.ofMemory() + ")",
          (int) -mapped);
    }
    long large = mapped + PacketMemory.SECOND_AREA_AT + LARGE_PAGE_BYTES - 1 & -LARGE_PAGE_BYTES;
    long base = large - PacketMemory.SECOND_AREA_AT;
    boolean usesZeroCopy = sendStage.supportsZeroCopy();
    if (usesZeroCopy) {
      /*
       * Large pages make zero-copy trains faster: the kernel counts references to each page, and a
       * train then has fewer pages.
       */
      MemoryCalls.adviseLargePages(large, TransmitRing.AREA_BYTES);
    }
    /*
     * Excludes sparsely touched memory from large pages. Otherwise, on systems that always use
     * large pages, each first touch would take 2 MiB.
     */
    MemoryCalls.adviseSmallPages(
        mapped, (usesZeroCopy ? large : base + PacketMemory.RING_AT) - mapped);
    tables = base + PacketMemory.BYTES;
    MemoryCalls.adviseSmallPages(tables, tableBytes);
    memory = new PacketMemory(base, trains, shares, links.get(0).sendFlow());
  }

  /** Frees the memory. Afterwards nothing may be sent. */
  public void free() {
    MemoryCalls.unmapMemory(mapped, mappedBytes);
  }

  /** Returns the tables' memory. It is zeroed, and only touched pages take memory. */
  public long tables() {
    return tables;
  }

  public PacketMemory memory() {
    return memory;
  }

  @Override
  public void selectFlow(int link) {
    memory.icrcWriter().setFlow(links.get(link).sendFlow());
  }

  /*
   * Returns whether small trains may join bundles. They may not while large trains are outstanding:
   * a fabric may queue another queue pair's packets separately, so bundled packets would be
   * reordered against the large trains. With several links they may not either, since loss
   * detection relies on the order within a link.
   */
  private boolean mayBundle() {
    return links.count() == 1 && !memory.ring().hasLarge();
  }

  @Override
  public boolean isTooNarrow(int link) {
    UdpSocket open = links.get(link).socket();
    return open != null && open.isFragmenting();
  }

  @Override
  public boolean canPass(int link, int writeBytes) {
    return !isTooNarrow(link) && links.get(link).writeBytesOnPath() >= writeBytes;
  }

  @Override
  public void warnNarrowPath(int link, PacketSizes sizes) {
    narrowPathWarning.warnNarrowPath(links.get(link), sizes);
  }

  @Override
  public void warnSinglePackets(int link) {
    narrowPathWarning.warnSinglePackets(links.get(link));
  }

  @Override
  public Outcome sendRetained(int link, long address, int lengthBytes, int segmentBytes) {
    PeerLink peerLink = links.get(link);
    UdpSocket open = peerLink.socket();
    return open == null
        ? Outcome.SENT
        : sendStage.sendRetained(peerLink, open, address, lengthBytes, segmentBytes, mayBundle());
  }

  @Override
  public boolean send(int link, long address, int lengthBytes, int segmentBytes) {
    return send(link, address, lengthBytes, segmentBytes, false);
  }

  @Override
  public boolean sendResponse(int link, long address, int lengthBytes, int segmentBytes) {
    return send(link, address, lengthBytes, segmentBytes, mayBundle());
  }

  private boolean send(
      int link, long address, int lengthBytes, int segmentBytes, boolean mayBundle) {
    PeerLink peerLink = links.get(link);
    UdpSocket open = peerLink.socket();
    return open == null
        || sendStage.send(peerLink, open, address, lengthBytes, segmentBytes, mayBundle);
  }
}
