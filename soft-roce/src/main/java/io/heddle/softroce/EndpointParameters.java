package io.heddle.softroce;

import io.heddle.platform.Errno;
import io.heddle.verbs.VerbsException;
import java.nio.ByteBuffer;

/**
 * What two soft devices tell each other about a queue pair: {@code 'H' 'S' | version 1 | reserved 1
 * | port 2 | source port 2 | receive buffer 4}, big-endian.
 *
 * @param port where it receives; 4791 unless another process had that
 * @param sourcePort where its packets come from
 * @param receiveBufferBytes what the kernel holds for it at most; bounds the peer's window
 */
record EndpointParameters(int port, int sourcePort, int receiveBufferBytes) {
  private static final int MAGIC = 'H' << 8 | 'S';
  private static final int VERSION = 2;
  private static final int BYTES = 12;

  byte[] toBytes() {
    return ByteBuffer.allocate(BYTES)
        .putShort((short) MAGIC)
        .put((byte) VERSION)
        .put((byte) 0)
        .putShort((short) port)
        .putShort((short) sourcePort)
        .putInt(receiveBufferBytes)
        .array();
  }

  /**
   * @throws VerbsException for what isn't a soft device's, or is another version's
   */
  static EndpointParameters parse(byte[] bytes, String queuePair) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    if (bytes.length < BYTES || (buffer.getShort() & 0xffff) != MAGIC) {
      throw new VerbsException(
          "modify_qp",
          queuePair
              + ": the peer's "
              + bytes.length
              + " bytes of parameters aren't a soft device's",
          Errno.EINVAL);
    }
    int version = buffer.get();
    if (version != VERSION) {
      throw new VerbsException(
          "modify_qp",
          queuePair
              + ": the peer's soft device has version "
              + version
              + ", this one "
              + VERSION
              + "; run the same Heddle at both ends",
          Errno.EINVAL);
    }
    buffer.get();
    int port = buffer.getShort() & 0xffff;
    int sourcePort = buffer.getShort() & 0xffff;
    int receiveBuffer = buffer.getInt();
    if (port == 0 || sourcePort == 0 || receiveBuffer <= 0) {
      throw new VerbsException(
          "modify_qp",
          queuePair
              + ": the peer names port "
              + port
              + ", source port "
              + sourcePort
              + ", receive buffer "
              + receiveBuffer,
          Errno.EINVAL);
    }
    return new EndpointParameters(port, sourcePort, receiveBuffer);
  }
}
