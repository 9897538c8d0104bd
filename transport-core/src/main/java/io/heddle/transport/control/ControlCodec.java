package io.heddle.transport.control;

import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Closing;
import io.heddle.transport.control.ControlMessage.Drain;
import io.heddle.transport.control.ControlMessage.Endpoint;
import io.heddle.transport.control.ControlMessage.Endpoints;
import io.heddle.transport.control.ControlMessage.Failed;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.control.ControlMessage.Hello;
import io.heddle.transport.control.ControlMessage.Malformed;
import io.heddle.transport.control.ControlMessage.Ping;
import io.heddle.transport.control.ControlMessage.PlaneAddress;
import io.heddle.transport.control.ControlMessage.PlaneDown;
import io.heddle.transport.control.ControlMessage.PlaneList;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.control.ControlMessage.PlaneReady;
import io.heddle.transport.control.ControlMessage.PlaneUp;
import io.heddle.transport.control.ControlMessage.Ready;
import io.heddle.transport.control.ControlMessage.ReconnectAddresses;
import io.heddle.transport.control.ControlMessage.Refused;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import java.net.InetSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Codec of control messages, big-endian.
 *
 * <pre>
 * frame      length of the rest, u32 | type, u8 | body
 * text       length, u8 | UTF-8
 * Hello      "HDLC" | version, u16 | features, u32 | token, 16 | call, u64
 * PlaneList  host text | network namespace, u64 | queue pairs per plane, u8 | count, u8 | count
 *            × (key text | own key text | GID, 16 | prefix length, u8 | interface text
 *            | MTU code, u8)
 * Endpoints  ring address, u64 | ring key, u32 | receive depth, u32 | endpoints
 * endpoints  count, u8 | count × (key text | QPN, u32 | PSN, u32 | length, u8 | parameters)
 * Refused    text
 * Failed     text
 * PlaneDown  key text | epoch, u32 | reason text
 * Fenced     key text | epoch, u32 | oldest, u64 | next, u64 | count, u16
 *            | count × (slot, u8 | generation, u8 | receive, u8 | chunks, u8 | bits, u64)
 * PlaneUp    key text | epoch, u32 | count, u8 | count × (GID, 16 | MTU code, u8) | endpoints
 * PlaneReady key text | epoch, u32
 * Drain      key text | on, u8
 * ReconnectAddresses      ticket, 16 | count, u8 | count × (IPv6 or IPv4-mapped address, 16 | port, u16)
 * Ping       received, u64 | next, u64
 * </pre>
 */
public final class ControlCodec {
  /** Protocol version; ends of different versions don't connect. */
  public static final int VERSION = 9;

  /** Bytes of a connection token. */
  public static final int TOKEN_BYTES = 16;

  /** Maximum number of a connection's queue pairs on one plane. */
  public static final int MAX_QUEUE_PAIRS_PER_PLANE = 8;

  /** Maximum number of a connection's queue pairs over all planes. */
  public static final int MAX_QUEUE_PAIRS = 64;

  /** Maximum length of a frame. */
  public static final int MAX_FRAME_BYTES = 32_768;

  /** Maximum length of an unauthenticated client's frame: enough for any version's Hello. */
  static final int MAX_UNAUTHENTICATED_FRAME_BYTES = 256;

  /** Maximum length of a channel's first frame: a Hello, or the reason for a refusal. */
  static final int MAX_FIRST_FRAME_BYTES = 512;

  /** Maximum number of an end's reconnect addresses. */
  public static final int MAX_RECONNECT_ADDRESSES = 64;

  static final int LENGTH_BYTES = 4;
  private static final int MAGIC = 0x48444c43;
  private static final int MAX_PLANES = 64;
  private static final int MAX_PARAMETER_BYTES = QueuePair.MOST_PARAMETER_BYTES;
  private static final int PSN_AND_QPN_MASK = 0xffffff;

  private static final byte HELLO = 1;
  private static final byte PLANE_LIST = 2;
  private static final byte ENDPOINTS = 3;
  private static final byte READY = 4;
  private static final byte CLOSING = 5;
  private static final byte REFUSED = 6;
  private static final byte FAILED = 7;
  private static final byte PLANE_DOWN = 8;
  private static final byte FENCED = 9;
  private static final byte PLANE_UP = 10;
  private static final byte PLANE_READY = 11;
  private static final byte DRAIN = 12;
  private static final byte RECONNECT_ADDRESSES = 13;
  private static final byte PING = 14;

  /* Maximum number of arrivals in Fenced: 256 slots of 8 receives each. */
  private static final int MAX_ARRIVALS = 2048;
  private static final int MAX_CHUNKS = 64;

  private ControlCodec() {}

  /** Returns a buffer with room for any frame. */
  public static ByteBuffer newFrame() {
    return ByteBuffer.allocate(LENGTH_BYTES + MAX_FRAME_BYTES);
  }

  /**
   * Encodes a whole frame, length included, ready to be written.
   *
   * @param out a buffer of {@link #newFrame}; its contents are overwritten
   * @return the same buffer
   */
  public static ByteBuffer encode(ControlMessage message, ByteBuffer out) {
    out.clear().position(LENGTH_BYTES);
    switch (message) {
      case Hello hello ->
          out.put(HELLO)
              .putInt(MAGIC)
              .putShort((short) hello.version())
              .putInt(hello.features())
              .put(hello.token())
              .putLong(hello.call());
      case PlaneList list -> {
        out.put(PLANE_LIST);
        putText(out, list.host());
        out.putLong(list.namespace());
        out.put((byte) list.queuePairsPerPlane()).put((byte) list.planes().size());
        for (PlaneOffer plane : list.planes()) {
          putText(out, plane.key());
          putText(out, plane.ownKey());
          out.put(plane.gid().toBytes()).put((byte) plane.prefixLength());
          putText(out, plane.interfaceName());
          out.put((byte) plane.mtu().code());
        }
      }
      case Endpoints endpoints -> {
        out.put(ENDPOINTS)
            .putLong(endpoints.ringAddress())
            .putInt(endpoints.ringKey())
            .putInt(endpoints.receiveDepth());
        putEndpoints(out, endpoints.endpoints());
      }
      case Ready ready -> out.put(READY);
      case Closing closing -> out.put(CLOSING);
      case Refused refused -> {
        out.put(REFUSED);
        putText(out, refused.reason());
      }
      case Failed failed -> {
        out.put(FAILED);
        putText(out, failed.reason());
      }
      case PlaneDown down -> {
        putText(out.put(PLANE_DOWN), down.plane());
        putText(out.putInt(down.epoch()), down.reason());
      }
      case Fenced fenced -> putFenced(out.put(FENCED), fenced);
      case PlaneUp up -> {
        putText(out.put(PLANE_UP), up.plane());
        out.putInt(up.epoch()).put((byte) up.addresses().size());
        for (PlaneAddress each : up.addresses()) {
          out.put(each.gid().toBytes()).put((byte) each.mtu().code());
        }
        putEndpoints(out, up.endpoints());
      }
      case PlaneReady ready -> {
        putText(out.put(PLANE_READY), ready.plane());
        out.putInt(ready.epoch());
      }
      case Drain drain -> {
        putText(out.put(DRAIN), drain.plane());
        out.put((byte) (drain.on() ? 1 : 0));
      }
      case ReconnectAddresses reconnect -> {
        out.put(RECONNECT_ADDRESSES)
            .put(reconnect.ticket())
            .put((byte) reconnect.addresses().size());
        for (InetSocketAddress each : reconnect.addresses()) {
          out.put(Gid.of(each.getAddress()).toBytes()).putShort((short) each.getPort());
        }
      }
      case Ping ping -> out.put(PING).putLong(ping.received()).putLong(ping.next());
      case Malformed malformed ->
          throw new IllegalArgumentException("not to be sent: " + malformed.reason());
    }
    out.putInt(0, out.position() - LENGTH_BYTES);
    return out.flip();
  }

  private static void putEndpoints(ByteBuffer out, List<Endpoint> endpoints) {
    out.put((byte) endpoints.size());
    for (Endpoint endpoint : endpoints) {
      putText(out, endpoint.planeKey());
      out.putInt(endpoint.queuePairNumber())
          .putInt(endpoint.startPsn())
          .put((byte) endpoint.parameters().length)
          .put(endpoint.parameters());
    }
  }

  private static void putFenced(ByteBuffer out, Fenced fenced) {
    putText(out, fenced.plane());
    out.putInt(fenced.epoch()).putLong(fenced.oldest()).putLong(fenced.next());
    out.putShort((short) fenced.arrivals().size());
    for (Arrival arrival : fenced.arrivals()) {
      out.put((byte) arrival.slot())
          .put((byte) arrival.generation())
          .put((byte) arrival.receive())
          .put((byte) arrival.count())
          .putLong(arrival.chunks());
    }
  }

  private static void putText(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, 255);
    out.put((byte) length).put(bytes, 0, length);
  }

  /**
   * Decodes the contents of one frame, after its length. Anything but one whole message becomes
   * {@link Malformed}.
   */
  public static ControlMessage decode(ByteBuffer frame) {
    try {
      byte type = frame.get();
      ControlMessage message =
          switch (type) {
            case HELLO -> hello(frame);
            case PLANE_LIST -> planeList(frame);
            case ENDPOINTS -> endpoints(frame);
            case READY -> new Ready();
            case CLOSING -> new Closing();
            case REFUSED -> new Refused(text(frame));
            case FAILED -> new Failed(text(frame));
            case PLANE_DOWN -> new PlaneDown(text(frame), frame.getInt(), text(frame));
            case FENCED -> fenced(frame);
            case PLANE_UP -> planeUp(frame);
            case PLANE_READY -> new PlaneReady(text(frame), frame.getInt());
            case RECONNECT_ADDRESSES -> reconnectAddresses(frame);
            case PING -> new Ping(frame.getLong(), frame.getLong());
            case DRAIN -> new Drain(text(frame), frame.get() != 0);
            default -> new Malformed("message type " + (type & 0xff));
          };
      return frame.hasRemaining() && !(message instanceof Malformed)
          ? new Malformed(frame.remaining() + " bytes too many")
          : message;
    } catch (BufferUnderflowException truncated) {
      return new Malformed("a message that ends early");
    }
  }

  private static ControlMessage hello(ByteBuffer in) {
    if (in.getInt() != MAGIC) {
      return new Malformed("a peer that isn't Heddle");
    }
    int version = in.getShort() & 0xffff;
    int features = in.getInt();
    byte[] token = new byte[TOKEN_BYTES];
    in.get(token);
    if (version != VERSION) {
      /* Other versions' Hellos have other lengths; their contents don't matter. */
      in.position(in.limit());
      return new Hello(version, features, token, 0);
    }
    return new Hello(version, features, token, in.getLong());
  }

  private static ControlMessage planeList(ByteBuffer in) {
    String host = text(in);
    long namespace = in.getLong();
    int queuePairs = in.get() & 0xff;
    int count = in.get() & 0xff;
    if (count > MAX_PLANES || queuePairs < 1 || queuePairs > MAX_QUEUE_PAIRS_PER_PLANE) {
      return new Malformed(count + " planes with " + queuePairs + " queue pairs each");
    }
    List<PlaneOffer> planes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = text(in);
      String ownKey = text(in);
      byte[] raw = new byte[Gid.BYTES];
      in.get(raw);
      Gid gid = Gid.of(raw);
      int prefixLength = in.get() & 0xff;
      String interfaceName = text(in);
      int mtu = in.get();
      if (!isMtu(mtu)) {
        return new Malformed("path MTU code " + mtu);
      }
      if (prefixLength > (gid.isIpv4Mapped() ? 32 : 128)) {
        return new Malformed("a prefix of " + prefixLength + " bits");
      }
      planes.add(
          new PlaneOffer(key, ownKey, gid, prefixLength, interfaceName, PathMtu.fromCode(mtu)));
    }
    return new PlaneList(host, namespace, queuePairs, planes);
  }

  private static ControlMessage endpoints(ByteBuffer in) {
    long ringAddress = in.getLong();
    int ringKey = in.getInt();
    int receiveDepth = in.getInt();
    if (receiveDepth < 1) {
      return new Malformed("endpoints with " + receiveDepth + " receives");
    }
    List<Endpoint> endpoints = new ArrayList<>();
    String wrong = takeEndpoints(in, endpoints);
    return wrong.isEmpty()
        ? new Endpoints(ringAddress, ringKey, receiveDepth, endpoints)
        : new Malformed(wrong);
  }

  /* Decodes endpoints into the list. Returns the error; empty where there is none. */
  private static String takeEndpoints(ByteBuffer in, List<Endpoint> endpoints) {
    int count = in.get() & 0xff;
    if (count > MAX_QUEUE_PAIRS) {
      return count + " endpoints";
    }
    for (int i = 0; i < count; i++) {
      String key = text(in);
      int qpn = in.getInt();
      int psn = in.getInt();
      byte[] parameters = new byte[in.get() & 0xff];
      in.get(parameters);
      if ((qpn | psn) >>> 24 != 0 || parameters.length > MAX_PARAMETER_BYTES) {
        return "queue pair " + (qpn & PSN_AND_QPN_MASK) + " with numbers out of range";
      }
      endpoints.add(new Endpoint(key, qpn, psn, parameters));
    }
    return "";
  }

  private static ControlMessage planeUp(ByteBuffer in) {
    String plane = text(in);
    int epoch = in.getInt();
    int count = in.get() & 0xff;
    if (count > MAX_PLANES) {
      return new Malformed("a plane with " + count + " addresses");
    }
    List<PlaneAddress> addresses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] gid = new byte[Gid.BYTES];
      in.get(gid);
      int mtu = in.get();
      if (!isMtu(mtu)) {
        return new Malformed("path MTU code " + mtu);
      }
      addresses.add(new PlaneAddress(Gid.of(gid), PathMtu.fromCode(mtu)));
    }
    List<Endpoint> endpoints = new ArrayList<>();
    String wrong = takeEndpoints(in, endpoints);
    return wrong.isEmpty() ? new PlaneUp(plane, epoch, addresses, endpoints) : new Malformed(wrong);
  }

  private static ControlMessage reconnectAddresses(ByteBuffer in) {
    byte[] ticket = new byte[TOKEN_BYTES];
    in.get(ticket);
    int count = in.get() & 0xff;
    if (count > MAX_RECONNECT_ADDRESSES) {
      return new Malformed(count + " reconnect addresses");
    }
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] address = new byte[Gid.BYTES];
      in.get(address);
      addresses.add(new InetSocketAddress(Gid.of(address).toAddress(), in.getShort() & 0xffff));
    }
    return new ReconnectAddresses(ticket, addresses);
  }

  private static ControlMessage fenced(ByteBuffer in) {
    String plane = text(in);
    int epoch = in.getInt();
    long oldest = in.getLong();
    long next = in.getLong();
    int count = in.getShort() & 0xffff;
    if (count > MAX_ARRIVALS) {
      return new Malformed(count + " arrivals");
    }
    List<Arrival> arrivals = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int slot = in.get() & 0xff;
      int generation = in.get();
      int receive = in.get();
      int chunks = in.get();
      if ((generation & ~0xf) != 0 || (receive & ~0x7) != 0 || chunks < 1 || chunks > MAX_CHUNKS) {
        return new Malformed("an arrival with numbers out of range");
      }
      arrivals.add(new Arrival(slot, generation, receive, chunks, in.getLong()));
    }
    return new Fenced(plane, epoch, oldest, next, arrivals);
  }

  private static boolean isMtu(int code) {
    return code >= PathMtu.MTU_256.code() && code <= PathMtu.MTU_4096.code();
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[in.get() & 0xff];
    in.get(bytes);
    return printable(new String(bytes, StandardCharsets.UTF_8));
  }

  /* Replaces control characters, since a peer's text may be logged. */
  private static String printable(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.chars().forEach(c -> clean.append(c < 0x20 || c == 0x7f ? '?' : (char) c));
    return clean.toString();
  }
}
