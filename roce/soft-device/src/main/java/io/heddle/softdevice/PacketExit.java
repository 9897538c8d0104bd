package io.heddle.softdevice;

import io.heddle.platform.MemoryCalls;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSeal;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.VerbsException;

/**
 * Where the packets of a queue pair are made and leave: the memory that they lie in, their seal,
 * and by which link they go. Under the progress lock, but for its making and {@link #free}.
 */
final class PacketExit {
  /* control packet | a slot of responses | a slot of scratch | the ring's first area | its second, in large pages | tables */
  private static final int CONTROL_BYTES = 4096;
  private static final int RING_AT = CONTROL_BYTES + 2 * TransmitRing.SLOT_BYTES;
  private static final int LARGE_AT = RING_AT + TransmitRing.AREA_BYTES;
  private static final int MEMORY_BYTES = LARGE_AT + TransmitRing.AREA_BYTES;
  private static final int LARGE_PAGE_BYTES = 2 << 20;

  private final Engine engine;
  private final PeerLinks links;
  private final long mapped;
  private final int mappedBytes;
  private final long memory;
  private final PacketSeal seal;
  private final TransmitRing ring;
  /* The link that the packet in hand came over, and the answer to it goes by. */
  private int answering;

  /**
   * @param tableBytes of memory beside the packets' own, for the tables of the queue pair
   */
  PacketExit(Engine engine, PeerLinks links, int tableBytes) {
    this.engine = engine;
    this.links = links;
    mappedBytes = MEMORY_BYTES + LARGE_PAGE_BYTES + tableBytes;
    mapped = MemoryCalls.mapMemory(mappedBytes);
    if (mapped < 0) {
      throw new VerbsException(
          "create_qp", "soft0, " + mappedBytes + " bytes of transmit ring", (int) -mapped);
    }
    memory = (mapped + LARGE_AT + LARGE_PAGE_BYTES - 1 & -LARGE_PAGE_BYTES) - LARGE_AT;
    boolean lends = engine.departures.lendsPages();
    if (lends) {
      /* A train that is lent is counted in and out of the kernel by its pages. Without large ones it's slower. */
      MemoryCalls.wantLargePages(memory + LARGE_AT, TransmitRing.AREA_BYTES);
    }
    /* What is touched here and there would take 2 MiB each where the system gives large pages to everybody. */
    MemoryCalls.wantSmallPages(mapped, memory + (lends ? LARGE_AT : RING_AT) - mapped);
    MemoryCalls.wantSmallPages(tables(), tableBytes);
    ring = new TransmitRing(memory + RING_AT, engine.counters.trains(), engine.shares);
    seal = new PacketSeal(memory, MEMORY_BYTES, links.get(0).sendFlow());
  }

  /** Nothing leaves any more. */
  void free() {
    MemoryCalls.unmapMemory(mapped, mappedBytes);
  }

  /** The tables' memory: zeros, of which only what is used costs pages. */
  long tables() {
    return memory + MEMORY_BYTES;
  }

  TransmitRing ring() {
    return ring;
  }

  /** Room for a train of responses. */
  long responseSlot() {
    return memory + CONTROL_BYTES;
  }

  /** Room for what is made, sent and forgotten. */
  long scratch() {
    return memory + CONTROL_BYTES + TransmitRing.SLOT_BYTES;
  }

  /** Room for a packet of our own, such as an acknowledgement. */
  long controlPacket() {
    return memory;
  }

  PacketSeal seal() {
    return seal;
  }

  /** The packet in hand came over this link. */
  void answerBy(int link) {
    answering = link;
  }

  int answering() {
    return answering;
  }

  /** What is sealed from now on goes by {@link #answer}. */
  void sealAnswers() {
    sealFor(answering);
  }

  /** What is sealed from now on goes by this link. */
  void sealFor(int link) {
    seal.sealFor(links.get(link).sendFlow());
  }

  /** Seals and sends the control packet. False when the socket is full. */
  boolean sendControl(int bytes) {
    seal.seal(controlPacket(), bytes);
    int total = bytes + PacketFormat.ICRC_BYTES;
    return answer(controlPacket(), total, total);
  }

  /** Sends by the link that the newest packet came over. False when the socket is full. */
  boolean answer(long address, int lengthBytes, int segmentBytes) {
    return send(answering, address, lengthBytes, segmentBytes, mayHaveCompany());
  }

  /*
   * Not with large trains under way: a fabric may keep another queue pair's packets in another queue than those, and whoever
   * went with them would be late, or early, beside the trains. Several links judge loss by what comes after on the same one.
   */
  private boolean mayHaveCompany() {
    return links.count() == 1 && !ring.hasLarge();
  }

  /** Whether the way of a link has become too narrow for the packets that were agreed on. */
  boolean isTooNarrow(int link) {
    UdpSocket open = links.get(link).socket();
    return open != null && open.fragments();
  }

  /** Whether the kernel knows of nothing on the way of a link that is too narrow for this size. */
  boolean mayPass(int link, int writeBytes) {
    return !isTooNarrow(link) && links.get(link).writeBytesOnRoute() >= writeBytes;
  }

  /** Writes by a link go on in smaller packets than both ends take, since larger ones are lost. */
  void tellNarrow(int link, PacketSizes sizes) {
    engine.wayIsNarrow(links.get(link), sizes);
  }

  /** Sends a train that stays as it is until it is acknowledged. */
  TrainSender.Outcome sendLasting(int link, long address, int lengthBytes, int segmentBytes) {
    PeerLink way = links.get(link);
    UdpSocket open = way.socket();
    return open == null
        ? TrainSender.Outcome.SENT
        : engine.departures.sendLasting(
            way, open, address, lengthBytes, segmentBytes, mayHaveCompany());
  }

  /**
   * Sends what is sent again, or asks: by itself, since a bundle is lost where its first queue pair
   * isn't there any more. False when the socket is full.
   */
  boolean send(int link, long address, int lengthBytes, int segmentBytes) {
    return send(link, address, lengthBytes, segmentBytes, false);
  }

  private boolean send(
      int link, long address, int lengthBytes, int segmentBytes, boolean inCompany) {
    PeerLink way = links.get(link);
    UdpSocket open = way.socket();
    return open == null
        || engine.departures.send(way, open, address, lengthBytes, segmentBytes, inCompany);
  }
}
