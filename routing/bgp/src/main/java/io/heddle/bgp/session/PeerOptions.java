package io.heddle.bgp.session;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.net.TcpOptions;
import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.Families;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of one peer.
 *
 * @param name name of the peer in logs and lists
 * @param remote the peer's address; null to find it by router advertisements on the interface
 * @param interfaceName interface of a link-local or unknown peer; empty for others
 * @param port the peer's TCP port
 * @param localAddress our source address; null for the kernel's choice
 * @param localAs our AS
 * @param remoteAs the peer's AS; 0 for any AS other than ours
 * @param routerId our BGP identifier
 * @param holdTimeSeconds hold time that we offer; 0, or 3 and more
 * @param families families that we offer; a session needs one that the peer speaks too
 * @param passive whether we only accept connections
 * @param gtsmHops number of routers allowed between us and the peer, plus one (RFC 5082): 1 for a
 *     peer on the link; 0 for no check
 * @param md5Key key of RFC 2385; empty for none
 * @param bindToDevice whether the connection must use the interface
 * @param acceptAigp whether AIGP is read from this peer
 * @param acceptAsSets whether the peer's routes may have AS_SETs in their paths
 * @param filters whether to offer address prefix filters (RFC 5291)
 * @param gracefulRestart whether the peer's routes are kept while it restarts, on its request
 * @param restartSeconds time for which the peer should keep our routes while we restart (RFC 4724);
 *     0 if it should drop them
 * @param bfd options of BFD while the session is up; null for no BFD
 * @param codePoints types of extended communities
 * @param retryFirstMs back-off after a first failure; doubled each time
 * @param retryMostMs longest back-off
 * @param openWaitMs time limit for TCP to connect, and for the peer's OPEN
 */
public record PeerOptions(
    String name,
    @Nullable InetAddress remote,
    String interfaceName,
    int port,
    @Nullable InetAddress localAddress,
    long localAs,
    long remoteAs,
    int routerId,
    int holdTimeSeconds,
    Families families,
    boolean passive,
    int gtsmHops,
    String md5Key,
    boolean bindToDevice,
    boolean acceptAigp,
    boolean acceptAsSets,
    boolean filters,
    boolean gracefulRestart,
    int restartSeconds,
    @Nullable BfdOptions bfd,
    CodePoints codePoints,
    long retryFirstMs,
    long retryMostMs,
    long openWaitMs) {
  public static final int BGP_PORT = 179;

  /** Longest restart time: its field in the graceful restart capability has 12 bits. */
  public static final int MOST_RESTART_SECONDS = 4095;

  /**
   * @throws IllegalArgumentException if a value is invalid; the message names it
   */
  public PeerOptions {
    require(
        holdTimeSeconds == 0 || holdTimeSeconds >= 3 && holdTimeSeconds <= 0xffff,
        name,
        "hold time",
        holdTimeSeconds,
        "0 or 3 to 65535 s");
    require(localAs > 0 && localAs <= 0xffff_ffffL, name, "local AS", localAs, "1 to 4294967295");
    require(remoteAs >= 0 && remoteAs <= 0xffff_ffffL, name, "AS", remoteAs, "0 to 4294967295");
    require(gtsmHops >= 0 && gtsmHops <= 255, name, "GTSM hops", gtsmHops, "0 to 255");
    require(
        restartSeconds >= 0 && restartSeconds <= MOST_RESTART_SECONDS,
        name,
        "restart time",
        restartSeconds,
        "0 to 4095 s");
    require(port > 0 && port <= 0xffff, name, "port", port, "1 to 65535");
    require(routerId != 0, name, "router id", routerId, "not 0.0.0.0");
    if (interfaceName.isEmpty() && isOnLinkLocal(remote)) {
      throw new IllegalArgumentException(
          "peer " + name + ": an unknown or link-local peer needs an interface");
    }
  }

  private static void require(boolean holds, String name, String what, long value, String range) {
    if (!holds) {
      throw new IllegalArgumentException(
          "peer " + name + ": " + what + " " + value + " isn't " + range);
    }
  }

  /**
   * Returns whether a peer has a link-local address, or a null address, which stands for a
   * link-local one still to be found.
   */
  static boolean isOnLinkLocal(@Nullable InetAddress remote) {
    return remote == null || remote instanceof Inet6Address && remote.isLinkLocalAddress();
  }

  public static Builder builder(String name) {
    return new Builder(name);
  }

  public boolean isExternal(long peerAs) {
    return peerAs != localAs;
  }

  /** Returns the message for a failed TCP connect. */
  String describeFailedConnect() {
    String sentence = describeSilence("no answer");
    return md5Key.isEmpty() && gtsmHops == 0
        ? sentence + "; a wrong MD5 key or a hop limit (GTSM) has the same effect"
        : sentence;
  }

  /** Returns the options of the session's TCP connections. */
  TcpOptions tcp() {
    return new TcpOptions(
        minHopLimit(),
        md5Key.getBytes(StandardCharsets.UTF_8),
        bindToDevice ? interfaceName : "",
        holdTimeSeconds * 1000);
  }

  /** Returns the smallest acceptable hop limit of the peer's packets; 0 for any. */
  int minHopLimit() {
    return gtsmHops == 0 ? 0 : 256 - gtsmHops;
  }

  /**
   * Returns the message for a peer that didn't answer within {@link #openWaitMs}. It mentions the
   * MD5 key and the hop limit, because the kernel silently drops packets with another key or a
   * lower hop limit.
   */
  String describeSilence(String what) {
    String sentence = what + " within " + openWaitMs + " ms";
    if (!md5Key.isEmpty()) {
      sentence += "; has the peer the same MD5 key?";
    }
    if (gtsmHops > 0) {
      sentence +=
          "; is it at most %s hops away, and does it send with a hop limit of 255 (GTSM)?"
              .formatted(gtsmHops);
    }
    return sentence;
  }

  /** Builder that starts from the defaults. */
  public static final class Builder {
    private final String name;
    private @Nullable InetAddress remote;
    private String interfaceName = "";
    private int port = BGP_PORT;
    private @Nullable InetAddress localAddress;
    private long localAs;
    private long remoteAs;
    private int routerId;
    private int holdTimeSeconds = 9;
    private Families families = Families.IPV6_UNICAST;
    private boolean passive;
    private int gtsmHops;
    private String md5Key = "";
    private boolean bindToDevice;
    private boolean acceptAigp = true;
    private boolean acceptAsSets;
    private boolean filters;
    private boolean gracefulRestart = true;
    private int restartSeconds;
    private @Nullable BfdOptions bfd;
    private CodePoints codePoints = CodePoints.DEFAULT;
    private long retryFirstMs = 1_000;
    private long retryMostMs = 30_000;
    private long openWaitMs = 10_000;

    private Builder(String name) {
      this.name = Objects.requireNonNull(name);
    }

    public Builder remote(@Nullable InetAddress address) {
      remote = address;
      return this;
    }

    public Builder onInterface(String value) {
      interfaceName = value;
      return this;
    }

    public Builder port(int value) {
      port = value;
      return this;
    }

    public Builder localAddress(@Nullable InetAddress address) {
      localAddress = address;
      return this;
    }

    public Builder localAs(long value) {
      localAs = value;
      return this;
    }

    public Builder remoteAs(long value) {
      remoteAs = value;
      return this;
    }

    public Builder routerId(int value) {
      routerId = value;
      return this;
    }

    public Builder holdTimeSeconds(int value) {
      holdTimeSeconds = value;
      return this;
    }

    public Builder families(Families value) {
      families = value;
      return this;
    }

    public Builder passive(boolean value) {
      passive = value;
      return this;
    }

    public Builder gtsmHops(int value) {
      gtsmHops = value;
      return this;
    }

    public Builder md5Key(String value) {
      md5Key = value;
      return this;
    }

    public Builder bindToDevice(boolean value) {
      bindToDevice = value;
      return this;
    }

    public Builder acceptAigp(boolean value) {
      acceptAigp = value;
      return this;
    }

    public Builder acceptAsSets(boolean value) {
      acceptAsSets = value;
      return this;
    }

    public Builder filters(boolean value) {
      filters = value;
      return this;
    }

    public Builder gracefulRestart(boolean value) {
      gracefulRestart = value;
      return this;
    }

    public Builder restartSeconds(int value) {
      restartSeconds = value;
      return this;
    }

    public Builder bfd(@Nullable BfdOptions value) {
      bfd = value;
      return this;
    }

    public Builder codePoints(CodePoints value) {
      codePoints = value;
      return this;
    }

    public Builder retryMs(long first, long most) {
      retryFirstMs = first;
      retryMostMs = most;
      return this;
    }

    public Builder openWaitMs(long value) {
      openWaitMs = value;
      return this;
    }

    public PeerOptions build() {
      return new PeerOptions(
          name,
          remote,
          interfaceName,
          port,
          localAddress,
          localAs,
          remoteAs,
          routerId,
          holdTimeSeconds,
          families,
          passive,
          gtsmHops,
          md5Key,
          bindToDevice,
          acceptAigp,
          acceptAsSets,
          filters,
          gracefulRestart,
          restartSeconds,
          bfd,
          codePoints,
          retryFirstMs,
          retryMostMs,
          openWaitMs);
    }
  }
}
