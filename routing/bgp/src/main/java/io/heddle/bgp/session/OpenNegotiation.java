package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.MessageFault;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.WireOptions;
import java.util.ArrayList;
import java.util.List;

/** Our OPEN, and what follows from the peer's (RFC 4271 §6.2, RFC 5492). */
final class OpenNegotiation {
  /** The peer's OPEN suits us, or the NOTIFICATION says why it doesn't. */
  sealed interface Outcome {
    record Agreed(Negotiated negotiated) implements Outcome {}

    record Refused(MessageFault fault) implements Outcome {}
  }

  /* AFI 2, SAFI 1, as a capability: what a peer without IPv6 unicast gets as data. */
  private static final byte[] IPV6_UNICAST = {1, 4, 0, 2, 0, 1};

  private final PeerOptions options;

  OpenNegotiation(PeerOptions options) {
    this.options = options;
  }

  /**
   * @param extendedParameters whether to write RFC 9072's form, which some peers insist on
   */
  OpenMessage ours(boolean extendedParameters) {
    List<Capability> capabilities = new ArrayList<>();
    capabilities.add(new Capability.Multiprotocol(AddressFamily.IPV6_UNICAST));
    capabilities.add(new Capability.RouteRefresh());
    capabilities.add(new Capability.EnhancedRouteRefresh());
    capabilities.add(new Capability.ExtendedMessage());
    capabilities.add(new Capability.LinkLocalNextHop());
    capabilities.add(new Capability.FourOctetAs(options.localAs()));
    if (options.filters()) {
      capabilities.add(
          new Capability.OutboundRouteFilter(
              List.of(
                  new Capability.OutboundRouteFilter.Offer(
                      AddressFamily.IPV6_UNICAST,
                      Capability.OutboundRouteFilter.ADDRESS_PREFIX_TYPE,
                      Capability.OutboundRouteFilter.SEND))));
    }
    if (options.gracefulRestart()) {
      /* A helper lists no family: it has nothing of its own to keep (RFC 4724 §3). */
      capabilities.add(new Capability.GracefulRestart(false, true, 0, List.of()));
    }
    boolean fits = options.localAs() <= 0xffff;
    return new OpenMessage(
        fits ? (int) options.localAs() : ExtendedCommunity.AS_TRANS,
        options.holdTimeSeconds(),
        options.routerId(),
        capabilities,
        extendedParameters);
  }

  Outcome judge(OpenMessage peer) {
    long peerAs = peer.realAutonomousSystem();
    String impossible = peer.impossibleAutonomousSystem();
    if (impossible != null) {
      return refused(NotificationMessage.BAD_PEER_AS, new byte[0], impossible);
    }
    boolean wrongAs =
        options.remoteAs() == 0 ? peerAs == options.localAs() : peerAs != options.remoteAs();
    if (wrongAs) {
      return refused(
          NotificationMessage.BAD_PEER_AS,
          new byte[0],
          options.remoteAs() == 0
              ? "the peer is in AS %s, where any but ours is expected".formatted(peerAs)
              : "the peer is in AS %s, configured is AS %s".formatted(peerAs, options.remoteAs()));
    }
    if (!options.isExternal(peerAs) && peer.identifier() == options.routerId()) {
      return refused(
          NotificationMessage.BAD_IDENTIFIER,
          new byte[0],
          "the peer has our own router id " + ExtendedCommunity.dotted(peer.identifier()));
    }
    if (!peer.speaks(AddressFamily.IPV6_UNICAST)) {
      return refused(
          NotificationMessage.UNSUPPORTED_CAPABILITY,
          IPV6_UNICAST,
          "the peer doesn't speak IPv6 unicast; activate that address family there");
    }
    boolean extended = peer.has(Capability.ExtendedMessage.class);
    Capability.OutboundRouteFilter filter = peer.find(Capability.OutboundRouteFilter.class);
    return new Outcome.Agreed(
        new Negotiated(
            peer,
            Math.min(options.holdTimeSeconds(), peer.holdTimeSeconds()),
            new WireOptions(
                peer.has(Capability.FourOctetAs.class),
                options.isExternal(peerAs),
                options.acceptAigp(),
                options.acceptAsSets(),
                extended ? BgpMessage.MAX_EXTENDED_BYTES : BgpMessage.MAX_BYTES,
                options.codePoints()),
            peer.has(Capability.RouteRefresh.class),
            peer.has(Capability.EnhancedRouteRefresh.class),
            options.filters() && filter != null && filter.receivesPrefixFilters()));
  }

  private static Outcome refused(int subcode, byte[] data, String why) {
    return new Outcome.Refused(
        new MessageFault(
            new NotificationMessage(NotificationMessage.OPEN_ERROR, subcode, data), why));
  }
}
