package io.heddle.systemtests.bridge;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Port of a host in a fabric. It sends to multicast groups and receives from them. */
interface GroupPort extends AutoCloseable {
  /** Queue key that RDMA CM uses for datagrams. */
  int QUEUE_KEY = 0x0123_4567;

  /** Callback for received datagrams. */
  interface Heard {
    /**
     * Handles a datagram.
     *
     * @param payload payload, which is valid until the call returns
     * @param immediate immediate data; 0 if the datagram has none
     */
    void datagram(ByteBuffer payload, boolean hasImmediate, int immediate);
  }

  /**
   * Opens a port.
   *
   * @param kind verbs, or wire
   * @param end name of the device or interface
   * @param own source address of the port's datagrams
   */
  static GroupPort open(String kind, String end, Gid own, List<GroupName> groups)
      throws IOException {
    return kind.equals("verbs")
        ? new VerbsGroupPort(end, own, groups)
        : new WireGroupPort(end, own, GroupName.addresses(groups));
  }

  /** Returns the length of the longest payload in bytes. */
  int mostBytes();

  /**
   * Sends one datagram.
   *
   * @param group index of the group in the list that the port was opened for
   */
  void send(int group, ByteBuffer payload, boolean hasImmediate, int immediate) throws IOException;

  /**
   * Passes received datagrams to the callback without waiting. The port's own datagrams may be
   * among them.
   */
  void poll(Heard heard) throws IOException;

  @Override
  void close() throws IOException;
}
