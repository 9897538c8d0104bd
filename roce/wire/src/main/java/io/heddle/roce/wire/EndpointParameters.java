package io.heddle.roce.wire;

import io.heddle.platform.Errno;
import io.heddle.verbs.Gid;
import io.heddle.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Parameters of a queue pair that soft devices exchange. Layout, big-endian, with lengths in bytes:
 * {@code 'H' 'S' | version (1) | further links (1) | port (2) | source port (2) | receive buffer
 * (4) | payload (2)}, then for each further link {@code GID (16) | port (2) | source port (2)}.
 *
 * @param receiveBufferBytes receive buffer of the kernel for each address; bounds the peer's window
 * @param writeBytes largest WRITE payload per packet that all its links support
 * @param ends one end for each link, with its receive port (4791 unless that was taken) and its
 *     source port. Both ports are 0 if the link's address is missing. The GID of the first end
 *     isn't transmitted, since verbs exchange it
 */
public record EndpointParameters(int receiveBufferBytes, int writeBytes, List<LinkEnd> ends) {
  /** Largest number of links of a queue pair. */
  public static final int MOST_LINKS = 16;

  private static final int MAGIC = 'H' << 8 | 'S';
  /*
   * Since version 7, data packets have the data mark. Receivers of earlier versions would treat it
   * as a congestion mark.
   */
  private static final int VERSION = 7;
  private static final int BYTES = 14;
  private static final int LINK_BYTES = Gid.BYTES + 4;

  public byte[] toBytes() {
    LinkEnd first = ends.getFirst();
    ByteBuffer buffer =
        ByteBuffer.allocate(BYTES + (ends.size() - 1) * LINK_BYTES)
            .putShort((short) MAGIC)
            .put((byte) VERSION)
            .put((byte) (ends.size() - 1))
            .putShort((short) first.port())
            .putShort((short) first.sourcePort())
            .putInt(receiveBufferBytes)
            .putShort((short) writeBytes);
    for (LinkEnd end : ends.subList(1, ends.size())) {
      buffer
          .putLong(end.gid().high())
          .putLong(end.gid().low())
          .putShort((short) end.port())
          .putShort((short) end.sourcePort());
    }
    return buffer.array();
  }

  /**
   * Parses the parameters of a peer.
   *
   * @param queuePair local queue pair, for error messages
   * @throws VerbsException for parameters of another device type or version
   */
  public static EndpointParameters parse(byte[] bytes, String queuePair) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    if (bytes.length < BYTES || (buffer.getShort() & 0xffff) != MAGIC) {
      throw refused(
          queuePair, "the peer's %d bytes of parameters aren't a soft device's", bytes.length);
    }
    int version = buffer.get();
    if (version != VERSION) {
      throw refused(
          queuePair,
          "the peer's soft device has version %d, this one %d; run the same Heddle at both ends",
          version,
          VERSION);
    }
    int further = buffer.get() & 0xff;
    int port = buffer.getShort() & 0xffff;
    int sourcePort = buffer.getShort() & 0xffff;
    int receiveBuffer = buffer.getInt();
    int writeBytes = buffer.getShort() & 0xffff;
    if (receiveBuffer <= 0
        || !PacketSizes.isSize(writeBytes)
        || further >= MOST_LINKS
        || bytes.length < BYTES + further * LINK_BYTES) {
      throw refused(
          queuePair,
          "the peer sent invalid parameters: receive buffer %d, packets of %d and %d further links"
              + " in %d bytes",
          receiveBuffer,
          writeBytes,
          further,
          bytes.length);
    }
    List<LinkEnd> ends = new ArrayList<>();
    ends.add(new LinkEnd(new Gid(0, 0), port, sourcePort));
    for (int i = 0; i < further; i++) {
      Gid gid = new Gid(buffer.getLong(), buffer.getLong());
      ends.add(new LinkEnd(gid, buffer.getShort() & 0xffff, buffer.getShort() & 0xffff));
    }
    if (ends.stream().anyMatch(end -> end.port() == 0 != (end.sourcePort() == 0))
        || ends.stream().allMatch(end -> end.port() == 0)) {
      throw refused(queuePair, "the peer sent invalid ports: %s", ends);
    }
    return new EndpointParameters(receiveBuffer, writeBytes, ends);
  }

  private static VerbsException refused(String queuePair, String format, Object... values) {
    return new VerbsException(
        "modify_qp", queuePair + ": " + String.format(Locale.ROOT, format, values), Errno.EINVAL);
  }
}
