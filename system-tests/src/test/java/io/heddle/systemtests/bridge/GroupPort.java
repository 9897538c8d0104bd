package io.heddle.systemtests.bridge;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A host's port in a fabric. It sends to multicast groups and receives from them. */
interface GroupPort extends AutoCloseable {
  /** The queue key of RDMA CM's datagram service. */
  int QUEUE_KEY = 0x0123_4567;

  /** Receiver of a datagram. */
  interface Heard {
    /**
     * @param payload valid until the call returns
     * @param immediate 0 if the datagram has none
     */
    void datagram(ByteBuffer payload, boolean hasImmediate, int immediate);
  }

  /**
   * Opens a port.
   *
   * @param kind verbs, or wire
   * @param end name of the device or interface
   * @param own the address that the port sends from
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
