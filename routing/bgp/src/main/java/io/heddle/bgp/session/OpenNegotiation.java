package io.heddle.bgp.session;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.MessageFault;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.WireOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Negotiation of a session: our OPEN, and the check of the peer's OPEN (RFC 4271 §6.2, RFC 5492).
 */
final class OpenNegotiation {
  /** Agreement, or the NOTIFICATION with the reason of the refusal. */
  sealed interface Outcome {
    record Agreed(Negotiated negotiated) implements Outcome {}

    record Refused(MessageFault fault) implements Outcome {}
  }

  private final PeerOptions options;

  OpenNegotiation(PeerOptions options) {
    this.options = options;
  }

  /**
   * @param extendedParameters whether to write RFC 9072's form, which some peers require
   */
  OpenMessage ownOpen(boolean extendedParameters) {
    List<Capability> capabilities = new ArrayList<>();
    for (AddressFamily family : options.families().all()) {
      capabilities.add(new Capability.Multiprotocol(family));
    }
    capabilities.add(new Capability.RouteRefresh());
    capabilities.add(new Capability.EnhancedRouteRefresh());
    capabilities.add(new Capability.ExtendedMessage());
    capabilities.add(new Capability.LinkLocalNextHop());
    capabilities.add(new Capability.FourOctetAs(options.localAs()));
    if (options.families().ipv4Unicast()) {
      capabilities.add(
          new Capability.ExtendedNextHop(
              List.of(
                  new Capability.ExtendedNextHop.Encoding(
                      AddressFamily.IPV4_UNICAST, AddressFamily.IPV6_UNICAST.afi()))));
    }
    if (options.filters()) {
      /* One capability per family: FRR reads only the first family of each capability. */
      for (AddressFamily family : options.families().unicast()) {
        capabilities.add(
            new Capability.OutboundRouteFilter(
                List.of(
                    new Capability.OutboundRouteFilter.Offer(
                        family,
                        Capability.OutboundRouteFilter.ADDRESS_PREFIX_TYPE,
                        Capability.OutboundRouteFilter.SEND))));
      }
    }
    int restartSeconds = options.restartSeconds();
    if (options.gracefulRestart() || restartSeconds > 0) {
      /*
       * Without a restart time we only help a restarting peer. We then list no family, because we
       * keep no forwarding state over a restart of our own (RFC 4724 §3).
       */
      List<Capability.GracefulRestart.Kept> kept =
          restartSeconds == 0
              ? List.of()
              : options.families().all().stream()
                  .map(each -> new Capability.GracefulRestart.Kept(each, true))
                  .toList();
      capabilities.add(new Capability.GracefulRestart(false, true, restartSeconds, kept));
    }
    boolean fits = options.localAs() <= 0xffff;
    return new OpenMessage(
        fits ? (int) options.localAs() : ExtendedCommunity.AS_TRANS,
        options.holdTimeSeconds(),
        options.routerId(),
        capabilities,
        extendedParameters);
  }

  Outcome negotiate(OpenMessage peer) {
    long peerAs = peer.realAutonomousSystem();
    String impossible = peer.invalidAsReason();
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
    Families common = options.families().filter(peer::supports);
    if (common == null) {
      List<AddressFamily> ours = options.families().all();
      return refused(
          NotificationMessage.UNSUPPORTED_CAPABILITY,
          Capability.Multiprotocol.bytes(ours),
          "the peer doesn't speak %s; activate that address family there"
              .formatted(ours.stream().map(Object::toString).collect(Collectors.joining(" or "))));
    }
    boolean extended = peer.has(Capability.ExtendedMessage.class);
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
                options.codePoints(),
                common),
            peer.has(Capability.RouteRefresh.class),
            peer.has(Capability.EnhancedRouteRefresh.class),
            options.filters()
                ? common.unicast().stream().filter(peer::acceptsPrefixFilters).toList()
                : List.of()));
  }

  private static Outcome refused(int subcode, byte[] data, String why) {
    return new Outcome.Refused(
        new MessageFault(
            new NotificationMessage(NotificationMessage.OPEN_ERROR, subcode, data), why));
  }
}
