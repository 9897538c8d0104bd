package io.heddle.bgp.flowspec.session;

import io.heddle.addr.AddressText;
import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.session.BgpPeerKeys;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.wire.Families;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigKeys;
import io.heddle.daemon.ConfigText;
import java.net.Inet6Address;
import org.jspecify.annotations.Nullable;

/** Keys of a BGP peer that sends or receives rules. */
public record RulePeerKeys(
    ConfigKey<@Nullable Inet6Address> address,
    ConfigKey<Long> as,
    ConfigKey<@Nullable Inet6Address> localAddress,
    BgpPeerKeys session) {
  private static final String IPV6 = "an IPv6 address of a host";

  /**
   * Declares the keys in a kind of section.
   *
   * @param peer kind of the peer, for the reference table
   * @param owner owner of the configuration, for the reference table
   */
  public static RulePeerKeys of(ConfigKeys section, String peer, String owner) {
    return new RulePeerKeys(
        section.key(
            "address",
            IPV6,
            null,
            ConfigKey.REQUIRED,
            "address of the BGP peer: " + peer + ", or a reflector",
            AddressText::requireIpv6Host),
        section.number("as", 0, "our own", 1, 0xffff_ffffL, "its AS"),
        section.key(
            "local-address",
            IPV6,
            null,
            "the kernel's choice",
            owner + "'s address of the session",
            AddressText::requireIpv6Host),
        BgpPeerKeys.of(section));
  }

  /**
   * Returns the options of the session with the peer of a section.
   *
   * @param ownAs our AS, which is the default of the peer's
   */
  public PeerOptions.Builder options(
      ConfigText.Section section, long ownAs, int routerId, ComponentTypes types) {
    return PeerOptions.builder(section.name())
        .remote(section.require(address))
        .port(section.get(session.port()))
        .localAddress(section.get(localAddress))
        .localAs(ownAs)
        .remoteAs(section.get(as, ownAs))
        .routerId(routerId)
        .families(Families.of(FlowspecCodec.both(types)))
        .gtsmHops(section.get(session.gtsmHops()))
        .md5Key(section.get(session.md5Key()))
        .passive(section.get(session.passive()));
  }
}
