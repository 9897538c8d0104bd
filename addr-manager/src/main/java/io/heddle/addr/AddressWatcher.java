package io.heddle.addr;

import io.heddle.platform.Errno;
import io.heddle.platform.SystemCallException;

/**
 * Tells of changes of interfaces and addresses from the moment it is opened. Open it first, then
 * take the snapshot, and nothing is missed. One thread at a time.
 */
public final class AddressWatcher implements AutoCloseable {
  private final RtnetlinkSocket socket;

  private AddressWatcher(RtnetlinkSocket socket) {
    this.socket = socket;
  }

  /**
   * @throws SystemCallException when netlink can't be used
   */
  public static AddressWatcher open() {
    return new AddressWatcher(
        RtnetlinkSocket.open(
            Rtnetlink.RTMGRP_LINK | Rtnetlink.RTMGRP_IPV4_IFADDR | Rtnetlink.RTMGRP_IPV6_IFADDR));
  }

  /**
   * File descriptor that is readable when {@link #poll} has something; for epoll. Stays the
   * watcher's.
   */
  public int fileDescriptor() {
    return socket.fileDescriptor();
  }

  /**
   * Hands waiting events to the listener, oldest first, and returns how many there were. Never
   * blocks.
   *
   * @throws SystemCallException when the socket fails
   */
  public int poll(AddressListener listener) {
    int count = 0;
    while (true) {
      int result = socket.receiveEvents(listener);
      if (result == -Errno.EAGAIN) {
        return count;
      }
      if (result == -Errno.ENOBUFS) {
        listener.onAddressEvent(new AddressEvent.EventsLost());
        count++;
      } else if (result < 0 && result != -Errno.EINTR) {
        throw new SystemCallException("recv on rtnetlink events", -result);
      } else {
        count += Math.max(0, result);
      }
    }
  }

  /**
   * Messages that were skipped: malformed ones and those about other things, bridge ports among
   * them.
   */
  public long skippedMessages() {
    return socket.skippedMessages();
  }

  @Override
  public void close() {
    socket.close();
  }
}
