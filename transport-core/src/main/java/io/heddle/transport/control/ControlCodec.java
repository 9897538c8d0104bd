package io.heddle.transport.control;

import io.heddle.transport.control.ControlMessage.Closing;
import io.heddle.transport.control.ControlMessage.Endpoint;
import io.heddle.transport.control.ControlMessage.Endpoints;
import io.heddle.transport.control.ControlMessage.Failed;
import io.heddle.transport.control.ControlMessage.Hello;
import io.heddle.transport.control.ControlMessage.Malformed;
import io.heddle.transport.control.ControlMessage.PlaneList;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.control.ControlMessage.Ready;
import io.heddle.transport.control.ControlMessage.Refused;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Control messages as bytes, big-endian.
 *
 * <pre>
 * frame      length of what follows, u32 | type, u8 | body
 * text       length, u8 | UTF-8
 * Hello      "HDLC" | version, u16 | features, u32 | token, 16
 * PlaneList  host text | queue pairs per plane, u8 | count, u8 | count
 *            × (key text | own key text | GID, 16 | MTU code, u8)
 * Endpoints  ring address, u64 | ring key, u32 | receive depth, u32 | count, u8
 *            | count × (key text | QPN, u32 | PSN, u32 | length, u8 | parameters)
 * Refused    text
 * Failed     text
 * </pre>
 */
public final class ControlCodec {
  /** Protocol version; ends of different versions don't talk. */
  public static final int VERSION = 4;

  /** Bytes of a connection token. */
  public static final int TOKEN_BYTES = 16;

  /** Queue pairs that a connection may have on one plane. */
  public static final int MAX_QUEUE_PAIRS_PER_PLANE = 8;

  /** Queue pairs that a connection may have over all planes. */
  public static final int MAX_QUEUE_PAIRS = 64;

  /** No frame is longer. */
  public static final int MAX_FRAME_BYTES = 16_384;

  static final int LENGTH_BYTES = 4;
  private static final int MAGIC = 0x48444c43;
  private static final int MAX_PLANES = 64;
  private static final int MAX_PARAMETER_BYTES = 64;
  private static final int PSN_AND_QPN_MASK = 0xffffff;

  private static final byte HELLO = 1;
  private static final byte PLANE_LIST = 2;
  private static final byte ENDPOINTS = 3;
  private static final byte READY = 4;
  private static final byte CLOSING = 5;
  private static final byte REFUSED = 6;
  private static final byte FAILED = 7;

  private ControlCodec() {}

  /** The whole frame, length included, ready to be written. */
  public static ByteBuffer encode(ControlMessage message) {
    ByteBuffer out = ByteBuffer.allocate(LENGTH_BYTES + MAX_FRAME_BYTES);
    out.position(LENGTH_BYTES);
    switch (message) {
      case Hello hello ->
          out.put(HELLO)
              .putInt(MAGIC)
              .putShort((short) hello.version())
              .putInt(hello.features())
              .put(hello.token());
      case PlaneList list -> {
        out.put(PLANE_LIST);
        putText(out, list.host());
        out.put((byte) list.queuePairsPerPlane()).put((byte) list.planes().size());
        for (PlaneOffer plane : list.planes()) {
          putText(out, plane.key());
          putText(out, plane.ownKey());
          out.put(plane.gid().toBytes()).put((byte) plane.mtu().code());
        }
      }
      case Endpoints endpoints -> {
        out.put(ENDPOINTS)
            .putLong(endpoints.ringAddress())
            .putInt(endpoints.ringKey())
            .putInt(endpoints.receiveDepth())
            .put((byte) endpoints.endpoints().size());
        for (Endpoint endpoint : endpoints.endpoints()) {
          putText(out, endpoint.planeKey());
          out.putInt(endpoint.queuePairNumber())
              .putInt(endpoint.startPsn())
              .put((byte) endpoint.parameters().length)
              .put(endpoint.parameters());
        }
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
      case Malformed malformed ->
          throw new IllegalArgumentException("not to be sent: " + malformed.reason());
    }
    out.putInt(0, out.position() - LENGTH_BYTES);
    return out.flip();
  }

  private static void putText(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, 255);
    out.put((byte) length).put(bytes, 0, length);
  }

  /**
   * Decodes what stands behind a frame's length; anything else than one whole message is {@link
   * Malformed}.
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
      /* Later versions may have said more; what they said doesn't matter. */
      in.position(in.limit());
    }
    return new Hello(version, features, token);
  }

  private static ControlMessage planeList(ByteBuffer in) {
    String host = text(in);
    int queuePairs = in.get() & 0xff;
    int count = in.get() & 0xff;
    if (count > MAX_PLANES || queuePairs < 1 || queuePairs > MAX_QUEUE_PAIRS_PER_PLANE) {
      return new Malformed(count + " planes with " + queuePairs + " queue pairs each");
    }
    List<PlaneOffer> planes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = text(in);
      String ownKey = text(in);
      byte[] gid = new byte[Gid.BYTES];
      in.get(gid);
      int mtu = in.get();
      if (mtu < PathMtu.MTU_256.code() || mtu > PathMtu.MTU_4096.code()) {
        return new Malformed("path MTU code " + mtu);
      }
      planes.add(new PlaneOffer(key, ownKey, Gid.of(gid), PathMtu.fromCode(mtu)));
    }
    return new PlaneList(host, queuePairs, planes);
  }

  private static ControlMessage endpoints(ByteBuffer in) {
    long ringAddress = in.getLong();
    int ringKey = in.getInt();
    int receiveDepth = in.getInt();
    int count = in.get() & 0xff;
    if (count > MAX_QUEUE_PAIRS || receiveDepth < 1) {
      return new Malformed(count + " endpoints, " + receiveDepth + " receives");
    }
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String key = text(in);
      int qpn = in.getInt();
      int psn = in.getInt();
      byte[] parameters = new byte[in.get() & 0xff];
      in.get(parameters);
      if ((qpn | psn) >>> 24 != 0 || parameters.length > MAX_PARAMETER_BYTES) {
        return new Malformed(
            "queue pair " + (qpn & PSN_AND_QPN_MASK) + " with numbers that can't be");
      }
      endpoints.add(new Endpoint(key, qpn, psn, parameters));
    }
    return new Endpoints(ringAddress, ringKey, receiveDepth, endpoints);
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[in.get() & 0xff];
    in.get(bytes);
    return printable(new String(bytes, StandardCharsets.UTF_8));
  }

  /* What a peer says may end up in a log. */
  private static String printable(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.chars().forEach(c -> clean.append(c < 0x20 || c == 0x7f ? '?' : (char) c));
    return clean.toString();
  }
}
