package io.heddle.addr;

import io.heddle.platform.Errno;
import io.heddle.platform.SystemCallException;

/**
 * Watcher of changes of interfaces and addresses, from the moment it is opened. Open it before
 * taking the {@link HostAddresses snapshot}, so that no change is missed. Used by one thread at a
 * time.
 */
public final class AddressWatcher implements AutoCloseable {
  private final RtnetlinkSocket socket;

  private AddressWatcher(RtnetlinkSocket socket) {
    this.socket = socket;
  }

  /**
   * Opens a watcher.
   *
   * @throws SystemCallException if netlink can't be used
   */
  public static AddressWatcher open() {
    return new AddressWatcher(
        RtnetlinkSocket.open(
            Rtnetlink.RTMGRP_LINK | Rtnetlink.RTMGRP_IPV4_IFADDR | Rtnetlink.RTMGRP_IPV6_IFADDR));
  }

  /**
   * Returns the file descriptor that becomes readable when {@link #poll} has events; for use with
   * epoll. The watcher still owns and closes it.
   */
  public int fileDescriptor() {
    return socket.fileDescriptor();
  }

  /**
   * Passes pending events to the listener, oldest first, and returns their number. Never blocks.
   *
   * @throws SystemCallException if the socket fails
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
   * Returns the number of skipped messages: malformed messages, and messages about other objects,
   * such as bridge ports.
   */
  public long skippedMessages() {
    return socket.skippedMessages();
  }

  @Override
  public void close() {
    socket.close();
  }
}
