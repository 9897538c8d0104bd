package io.heddle.bgp.session;

import io.heddle.bgp.net.TcpOptions;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigKeys;

/** Keys that the section of a BGP peer has in every daemon's configuration file. */
public record BgpPeerKeys(
    ConfigKey<Integer> port,
    ConfigKey<Boolean> passive,
    ConfigKey<Integer> gtsmHops,
    ConfigKey<String> md5Key) {
  /** Declares the keys in a kind of section. */
  public static BgpPeerKeys of(ConfigKeys section) {
    return new BgpPeerKeys(
        section.integer("port", PeerOptions.BGP_PORT, 1, 0xffff, "its TCP port"),
        section.flag("passive", false, "wait for the peer to connect"),
        section.integer("gtsm-hops", 0, 0, 255, "most hops to the peer (RFC 5082); 0 for no check"),
        section.secret(
            "md5-key", TcpOptions.LONGEST_KEY, "key of TCP-MD5 (RFC 2385), alike at both ends"));
  }
}
