package io.heddle.softdevice.io;

import io.heddle.platform.Errno;
import io.heddle.roce.transport.LinkSet;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.LinkEnd;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Links of a queue pair to its peer: one link, or several with a common packet sequence. Each link
 * connects the addresses at the same position of both ends. The control path changes the links
 * under the progress lock; the lock's holder uses them.
 */
public final class PeerLinks {
  private PeerLink[] links = {new PeerLink()};
  private int lastSource;
  private int peersBufferBytes;

  /**
   * Sets one link per address; an entry is null for a missing address. The caller holds the lock.
   */
  public void setLinks(List<@Nullable LocalEnd> opened) {
    close();
    if (links.length != opened.size()) {
      links = new PeerLink[opened.size()];
      for (int i = 0; i < links.length; i++) {
        links[i] = new PeerLink();
      }
    }
    lastSource = 0;
    for (int i = 0; i < links.length; i++) {
      LocalEnd each = opened.get(i);
      if (each != null) {
        links[i].takeSocket(each.socket(), each.address(), each.receiver());
      }
    }
  }

  /** Local address with its sockets. */
  public record LocalEnd(UdpSocket socket, SoftPort.Address address, ReceivePort receiver) {}

  /**
   * Returns whether the links support all of these requests. Several links support neither SENDs
   * nor READs: these are executed in order, so each would wait for the slowest link.
   */
  public boolean support(SendWorkRequest first) {
    if (links.length == 1) {
      return true;
    }
    for (SendWorkRequest each = first; each != null; each = each.next) {
      if (each.operation != SendWorkRequest.Operation.RDMA_WRITE
          && each.operation != SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE) {
        return false;
      }
    }
    return true;
  }

  public int count() {
    return links.length;
  }

  public PeerLink get(int link) {
    return links[link];
  }

  /** Returns the parameters for a soft peer, or null before there is a socket. */
  public @Nullable EndpointParameters parameters() {
    List<LinkEnd> ends = new ArrayList<>();
    int buffer = Integer.MAX_VALUE;
    for (PeerLink link : links) {
      ends.add(new LinkEnd(link.localGid(), link.receivePort(), link.sourcePort()));
      buffer = link.socket() == null ? buffer : Math.min(buffer, link.receiveBufferBytes());
    }
    return buffer == Integer.MAX_VALUE ? null : new EndpointParameters(buffer, writeBytes(), ends);
  }

  /* Returns the largest WRITE payload that all links support. */
  private int writeBytes() {
    int smallest = PacketSizes.MOST_BYTES;
    for (PeerLink link : links) {
      smallest = link.socket() == null ? smallest : Math.min(smallest, link.writeBytes());
    }
    return smallest;
  }

  /**
   * Returns the packet sizes for the peer, and sets them on the links. Called after {@link
   * #acceptPeer}.
   *
   * @param peer parameters of the peer, or null if it is a standard device
   */
  public PacketSizes sizes(PathMtu mtu, @Nullable EndpointParameters peer) {
    PacketSizes sizes = peer == null ? PacketSizes.standard(mtu) : agreedSizes(mtu, peer);
    for (PeerLink link : links) {
      link.setSizes(sizes);
      UdpSocket open = link.socket();
      if (open != null && sizes.isWide()) {
        open.allowFragmentation();
      }
    }
    return sizes;
  }

  private PacketSizes agreedSizes(PathMtu mtu, EndpointParameters peer) {
    int onRoute = PacketSizes.MOST_BYTES;
    for (PeerLink link : links) {
      onRoute = link.isAbsent() ? onRoute : Math.min(onRoute, link.writeBytesOnPath());
    }
    return PacketSizes.agreed(mtu, writeBytes(), peer.writeBytes(), onRoute);
  }

  /**
   * Returns the peer's ends, in order.
   *
   * @param peer parameters of the peer, or null if it is a standard device
   * @throws VerbsException if the peer has another number of links
   */
  public List<LinkEnd> peerEnds(
      ReadyToReceiveAttributes attributes, @Nullable EndpointParameters peer, Object queuePair) {
    int theirs = peer == null ? 1 : peer.ends().size();
    if (theirs != links.length) {
      throw new VerbsException(
          "modify_qp",
          queuePair + ": it has " + links.length + " links, the peer " + theirs,
          Errno.EINVAL);
    }
    if (peer == null) {
      return List.of(new LinkEnd(attributes.remoteGid(), PacketFormat.ROCE_PORT, 0));
    }
    List<LinkEnd> ends = new ArrayList<>(peer.ends());
    /* The address of the first end comes from the verbs' attributes. */
    LinkEnd first = ends.getFirst();
    ends.set(0, new LinkEnd(attributes.remoteGid(), first.port(), first.sourcePort()));
    return ends;
  }

  /**
   * Connects the sockets to the peer. The caller needs no lock, since nothing is sent yet.
   *
   * @return for each link, whether it is connected; if there are several, a link without a route is
   *     unused
   * @throws VerbsException if no link could be connected
   */
  public boolean[] connect(
      List<LinkEnd> ends, int trafficClass, EgressPinning pinning, Object queuePair) {
    boolean[] connected = new boolean[links.length];
    VerbsException refused = null;
    boolean any = false;
    for (int i = 0; i < links.length; i++) {
      try {
        connected[i] = links[i].connect(ends.get(i), trafficClass, pinning, queuePair);
        any |= connected[i];
      } catch (VerbsException failed) {
        refused = failed;
      }
    }
    if (refused != null && !any) {
      throw refused;
    }
    return connected;
  }

  /** Accepts packets of this peer on connected links from now on. The caller holds the lock. */
  public void acceptPeer(
      List<LinkEnd> ends,
      boolean[] connected,
      @Nullable EndpointParameters peer,
      Object queuePair) {
    boolean any = false;
    for (int i = 0; i < links.length; i++) {
      links[i].acceptPeer(ends.get(i), connected[i], peer != null);
      any |= !links[i].isAbsent();
    }
    if (!any) {
      throw new VerbsException(
          "modify_qp",
          queuePair + ": none of its " + links.length + " links has both addresses",
          Errno.EADDRNOTAVAIL);
    }
    peersBufferBytes = peer == null ? links[0].receiveBufferBytes() : peer.receiveBufferBytes();
  }

  /**
   * Returns the links for the requester. A standard peer's buffers are assumed to be as large as
   * this device's.
   */
  public LinkSet toLinkSet(PacketSizes sizes) {
    int absent = 0;
    for (int i = 0; i < links.length; i++) {
      absent |= links[i].isAbsent() ? 1 << i : 0;
    }
    return new LinkSet(
        links.length,
        absent,
        PeerLink.window(peersBufferBytes, sizes.narrow()),
        PeerLink.window(peersBufferBytes, sizes));
  }

  /**
   * Returns the index of the link of a packet from this source, or −1 if the source isn't the
   * peer's.
   */
  public int linkOfSource(long high, long low, int port) {
    if (links[lastSource].isPeer(high, low, port)) {
      return lastSource;
    }
    for (int i = 0; i < links.length; i++) {
      if (links[i].isPeer(high, low, port)) {
        lastSource = i;
        return i;
      }
    }
    return -1;
  }

  /** Returns the destinations of all usable links as text. */
  public String destinations() {
    return Arrays.stream(links)
        .map(PeerLink::destination)
        .filter(each -> !each.isEmpty())
        .collect(Collectors.joining(", "));
  }

  public void close() {
    for (PeerLink link : links) {
      link.close();
    }
  }
}
