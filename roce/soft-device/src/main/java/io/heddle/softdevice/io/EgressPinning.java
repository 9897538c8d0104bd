package io.heddle.softdevice.io;

import io.heddle.addr.AddressText;
import io.heddle.addr.Egress;
import io.heddle.addr.NetworkLink;
import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import io.heddle.verbs.Gid;
import java.util.HashSet;
import java.util.Set;

/**
 * Binding of sending sockets to the interface of their address, if the host's routes would use
 * another interface, as with several interfaces in one subnet. Control path.
 */
public final class EgressPinning {
  private final Log log;
  private final Set<Gid> logged = new HashSet<>();

  public EgressPinning(Log log) {
    this.log = log;
  }

  /**
   * Binds the socket if the kernel would route its packets through another interface. Called before
   * the socket is connected.
   */
  void bindIfNeeded(UdpSocket socket, NetworkLink link, Gid peer) {
    switch (Egress.remedy(socket.address().toAddress(), link, peer.toAddress())) {
      case NONE -> {}
      case BIND -> {
        int result = socket.bindToInterface(link);
        if (result < 0) {
          warn(
              socket,
              "packets from %s to %s leave by another interface than %s, and the socket can't be"
                  + " bound to it (%s): several interfaces are in one subnet; give each a subnet of"
                  + " its own",
              peer,
              link,
              Errno.describe(-result));
        } else if (logged.add(socket.address())) {
          log.info(
              "soft0: packets from %s are kept on %s: several interfaces lead to %s",
              AddressText.of(socket.address().toAddress()),
              link.name(),
              AddressText.of(peer.toAddress()));
        }
      }
      case REFUSED_BY_REVERSE_PATH ->
          warn(
              socket,
              "packets from %s to %s leave by another interface than %s: several interfaces are in"
                  + " one subnet, and net.ipv4.conf.%s.rp_filter=1 would drop what comes by this"
                  + " one; set it to 2 on all hosts, or give each interface a subnet of its own",
              peer,
              link,
              link.name());
    }
  }

  private void warn(UdpSocket socket, String sentence, Gid peer, NetworkLink link, Object last) {
    if (logged.add(socket.address())) {
      log.warn(
          "soft0: " + sentence,
          AddressText.of(socket.address().toAddress()),
          AddressText.of(peer.toAddress()),
          link.name(),
          last);
    }
  }
}
