package io.heddle.addr;

import io.heddle.platform.SystemCallException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Sender of rtnetlink(7) requests of any type, for callers that write their own message bodies,
 * such as a gateway for its routes and rules. Numbers are in the machine's byte order. Used by one
 * thread at a time.
 */
public final class RtnetlinkRequests implements AutoCloseable {
  /** Flag that replaces an existing object (linux/netlink.h). */
  public static final int NLM_F_REPLACE = 0x100;

  public static final int NLM_F_EXCL = 0x200;
  public static final int NLM_F_CREATE = 0x400;

  private final RtnetlinkSocket socket;

  private RtnetlinkRequests(RtnetlinkSocket socket) {
    this.socket = socket;
  }

  /**
   * Opens a socket in the calling thread's network namespace.
   *
   * @throws SystemCallException if netlink can't be used
   */
  public static RtnetlinkRequests open() {
    return new RtnetlinkRequests(RtnetlinkSocket.open(0));
  }

  /**
   * Executes a request and waits for its acknowledgement.
   *
   * @param type RTM_NEWROUTE and so on
   * @param flags NLM_F_* flags in addition to NLM_F_REQUEST and NLM_F_ACK
   * @param body the struct of this type of message, and attributes
   * @return 0, or the negated errno
   */
  public int execute(int type, int flags, byte[] body) {
    return socket.execute(type, flags, body);
  }

  /**
   * Returns the bodies of the messages that answer a list request (RTM_GETROUTE and so on), without
   * their headers.
   *
   * @throws SystemCallException if the kernel refuses
   */
  public List<ByteBuffer> list(int type, byte[] body) {
    return socket.list(type, body);
  }

  @Override
  public void close() {
    socket.close();
  }
}
