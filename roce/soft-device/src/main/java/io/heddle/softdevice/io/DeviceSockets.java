package io.heddle.softdevice.io;

import io.heddle.addr.RocePorts;
import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import io.heddle.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sockets of an open device: a receiving socket for each address in use, shared by all links of
 * that address, and a sending socket for each link. Guarded by the context's monitor.
 */
public final class DeviceSockets {
  private final SoftPort port;
  private final RocePorts ports;
  private final SourcePorts sourcePorts;
  private final IntConsumer onOpen;
  private final IntConsumer onClose;
  private final Log log;
  private final EgressPinning egressPinning;
  private final Map<Gid, ReceivePort> receivePorts = new HashMap<>();
  private boolean closed;

  /**
   * @param onOpen called with the descriptor of each new receiving socket
   * @param onClose called with the descriptor of a receiving socket before its close
   */
  public DeviceSockets(
      SoftPort port,
      RocePorts ports,
      SourcePorts sourcePorts,
      IntConsumer onOpen,
      IntConsumer onClose,
      Log log) {
    this.port = port;
    this.ports = ports;
    this.sourcePorts = sourcePorts;
    this.onOpen = onOpen;
    this.onClose = onClose;
    this.log = log;
    egressPinning = new EgressPinning(log);
  }

  public EgressPinning egressPinning() {
    return egressPinning;
  }

  /**
   * Opens sockets for a queue pair on these addresses. An entry of the result is null if its index
   * is negative.
   *
   * @throws VerbsException for too many or no addresses, if a socket can't be opened, or if the
   *     device is closed
   */
  public List<PeerLinks.@Nullable LocalEnd> open(int[] gidIndexes, Object queuePair) {
    if (gidIndexes.length > EndpointParameters.MOST_LINKS
        || Arrays.stream(gidIndexes).noneMatch(i -> i >= 0)) {
      throw new VerbsException(
          "modify_qp",
          queuePair
              + " to INIT on addresses "
              + Arrays.toString(gidIndexes)
              + " (1 to "
              + EndpointParameters.MOST_LINKS
              + ")",
          Errno.EINVAL);
    }
    if (closed) {
      throw new VerbsException("modify_qp", "soft0, which is closed", Errno.ENODEV);
    }
    closeUnusedReceivers();
    List<PeerLinks.@Nullable LocalEnd> opened = new ArrayList<>();
    try {
      for (int index : gidIndexes) {
        opened.add(index < 0 ? null : openLink(index, queuePair));
      }
    } catch (VerbsException failed) {
      opened.stream().filter(Objects::nonNull).forEach(each -> each.socket().close());
      throw failed;
    }
    return opened;
  }

  private PeerLinks.LocalEnd openLink(int gidIndex, Object queuePair) {
    SoftPort.Address address = port.address(gidIndex);
    ReceivePort receiver = receivePort(address);
    return new PeerLinks.LocalEnd(
        PeerLink.open(address, sourcePorts, queuePair), address, receiver);
  }

  /** Returns the receiving socket of this address, opened at first use. */
  private ReceivePort receivePort(SoftPort.Address address) {
    ReceivePort open = receivePorts.get(address.gid());
    if (open != null) {
      return open;
    }
    UdpSocket socket;
    try {
      socket = bindReceiver(address);
    } catch (SystemCallException failed) {
      throw new VerbsException("modify_qp", "soft0, receiving on " + address.gid(), failed.errno());
    }
    ReceivePort fresh = new ReceivePort(socket);
    receivePorts.put(address.gid(), fresh);
    onOpen.accept(socket.fd());
    return fresh;
  }

  /* Closes unused sockets of removed addresses, since addresses change while a job runs. */
  private void closeUnusedReceivers() {
    if (receivePorts.values().stream().allMatch(ReceivePort::isUsed)) {
      return;
    }
    Set<Gid> there =
        port.addresses().stream().map(SoftPort.Address::gid).collect(Collectors.toSet());
    receivePorts
        .entrySet()
        .removeIf(entry -> {
          ReceivePort open = entry.getValue();
          boolean unused = !open.isUsed() && !there.contains(entry.getKey());
          if (unused) {
            onClose.accept(open.socket().fd());
            open.socket().close();
          }
          return unused;
        });
  }

  private UdpSocket bindReceiver(SoftPort.Address address) {
    for (int each = ports.first(); each <= ports.last(); each++) {
      try {
        return bound(address, each);
      } catch (SystemCallException failed) {
        if (!UdpSocket.isAddressInUse(failed)) {
          throw failed;
        }
      }
    }
    UdpSocket outside = UdpSocket.bind(address.gid(), address.scope(), 0, true);
    log.warn(
        "soft0: UDP ports %s of %s are all in use; receiving on port %d, which a firewall may"
            + " block; %s sets a larger range",
        ports, address.gid(), outside.port(), RocePorts.VARIABLE);
    return outside;
  }

  private UdpSocket bound(SoftPort.Address address, int number) {
    UdpSocket socket = UdpSocket.bind(address.gid(), address.scope(), number, true);
    if (number != PacketFormat.ROCE_PORT) {
      log.info(
          "soft0: receiving on port %d of %s, which only other soft devices learn and use",
          number, address.gid());
    }
    return socket;
  }

  /** Closes the receiving sockets. Links close their sending sockets themselves. */
  public void close() {
    closed = true;
    receivePorts.values().forEach(open -> open.socket().close());
    receivePorts.clear();
  }
}
