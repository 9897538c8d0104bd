package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.RecordingListener;
import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.LargeCommunity;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Contract tests of Heddle's BGP speaker with another daemon; a subclass per daemon. The daemon (AS
 * 65002, fd00:1::1) announces fd00:aa::/32 to the speaker (AS 65001, fd00:1::2), and receives a
 * host route from it. In an IPv4 session, both addresses are IPv4.
 */
@EndsWithin(120)
abstract class DaemonContract {
  static final Prefix AGGREGATE = Prefix.of("fd00:aa::/32");
  static final Prefix OURS = Prefix.of("fd00:55::5/128");
  static final String KEY = "a secret of both";

  final RecordingListener heard = new RecordingListener();
  HostAndLeaf net;
  BgpSpeaker speaker;
  PeerSession session;

  /**
   * Addresses and announcements of a session.
   *
   * @param leaf address of the daemon
   * @param host address of the speaker
   * @param aggregate prefix that the daemon announces
   * @param announced prefix that the speaker announces
   * @param families address families of the session
   */
  record Fabric(String leaf, String host, Prefix aggregate, Prefix announced, Families families) {
    static final Fabric OF_IPV6 =
        new Fabric("fd00:1::1", "fd00:1::2", AGGREGATE, OURS, Families.IPV6_UNICAST);
    static final Fabric OF_IPV4 =
        new Fabric(
            "10.9.0.1",
            "10.9.0.2",
            Prefix.of("10.20.0.0/16"),
            Prefix.of("10.55.0.5"),
            Families.IPV4_UNICAST);

    boolean isIpv4() {
      return this == OF_IPV4;
    }

    /** Returns the first text for IPv6, the second for IPv4. */
    String choose(String ofIpv6, String ofIpv4) {
      return isIpv4() ? ofIpv4 : ofIpv6;
    }
  }

  /** Returns the addresses of the tested family. */
  Fabric fabric() {
    return Fabric.OF_IPV6;
  }

  /** Returns the prefix that the daemon announces. */
  final Prefix aggregate() {
    return fabric().aggregate();
  }

  /** Returns the prefix that the speaker announces. */
  final Prefix announced() {
    return fabric().announced();
  }

  /** Returns the paths of the required programs. */
  abstract List<Path> programs();

  /**
   * Starts the daemon in the leaf's namespace.
   *
   * @param key TCP-MD5 key; empty for none
   * @param security whether the daemon checks the hop limit (GTSM)
   */
  abstract Process launch(String key, boolean security) throws Exception;

  /** Returns a TCP-MD5 key that the daemon's configuration can express. */
  String key() {
    return KEY;
  }

  /** Returns the daemon's routing table, as lower-case text. */
  abstract String table() throws Exception;

  /**
   * Returns the entry of the speaker's route in the daemon's routing table, with the attributes in
   * the daemon's notation.
   */
  abstract String speakerRouteEntry() throws Exception;

  /** Returns the parts of that entry that show the attributes of {@link #announcement}. */
  abstract List<String> ourAttributes();

  /** Makes the daemon's operator reset the session. */
  abstract void reset() throws Exception;

  /** Returns the beginning of the message with which the speaker reports the operator's reset. */
  String resetMessage() {
    return "the peer sent Cease/";
  }

  /** Checks the attributes of the daemon's aggregate. */
  abstract void assertAttributes(PathAttributes attributes);

  @BeforeEach
  void build() throws Exception {
    for (Path program : programs()) {
      if (!Files.isExecutable(program)) {
        System.out.println("skipped: " + program + " isn't installed");
        Assumptions.abort(program + " isn't installed");
      }
    }
    net = new HostAndLeaf();
    speaker = new BgpSpeaker(heard.logTo());
    net.moveIn(speaker);
    speaker.listen(Endpoint.of(Prefix.of(fabric().host()).inetAddress(), 0, 179));
  }

  @AfterEach
  void takeDown() throws Exception {
    if (speaker != null) {
      speaker.close();
    }
    if (net != null) {
      net.close();
    }
  }

  PeerOptions.Builder options() {
    return PeerOptions.builder("leaf")
        .remote(Prefix.of(fabric().leaf()).inetAddress())
        .localAddress(Prefix.of(fabric().host()).inetAddress())
        .families(fabric().families())
        .localAs(65001)
        .remoteAs(65002)
        .routerId(0x0a000005)
        .retryMs(100, 500);
  }

  void connect(PeerOptions.Builder options) {
    session = speaker.add(options.build(), heard);
    speaker.execute(session::start);
  }

  /** Connects from the speaker's link-local address to the daemon's. */
  void connectToLinkLocal() throws Exception {
    connect(linkLocal().gtsmHops(1));
  }

  PeerOptions.Builder linkLocal() throws Exception {
    return options()
        .remote(Prefix.of(HostAndLeaf.linkLocal(net.leaf(), "h0")).address())
        .localAddress(null)
        .onInterface("p1")
        .bindToDevice(true);
  }

  void await(String what, Condition condition) throws Exception {
    Deadline deadline = Deadline.ofSeconds(45);
    while (!condition.holds()) {
      if (deadline.isOver()) {
        assertTrue(false, what + "; heard " + heard.events + "\n" + heard.log + "\n" + net.logs());
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  @FunctionalInterface
  interface Condition {
    boolean holds() throws Exception;
  }

  void awaitEstablished() throws Exception {
    await("established", () -> heard.has("established 65002"));
  }

  /** Returns the attributes of a route's last announcement; null if the route is absent. */
  PathAttributes attributesOf(Prefix prefix) {
    PathAttributes found = null;
    for (UpdateMessage update : heard.updates) {
      if (update.withdrawn().prefixes().contains(prefix)) {
        found = null;
      }
      if (update.announced().prefixes().contains(prefix)) {
        found = update.attributes();
      }
    }
    return found;
  }

  /**
   * Returns an announcement of the speaker's route with every attribute that a route may have, such
   * as a path bandwidth of 100 Gbit/s.
   */
  UpdateMessage announcement() {
    return UpdateMessage.announce(
        Nlri.of(announced()),
        PathAttributes.of(
            PathAttribute.Origin.IGP,
            new PathAttribute.Path(AsPath.of(65001)),
            new PathAttribute.Communities(List.of(0xfde9_0009)),
            new PathAttribute.ExtendedCommunities(
                List.of(
                    new ExtendedCommunity.PathBandwidth(true, 0x0a000005, 100),
                    new ExtendedCommunity.FibSuppress(65001, 0x0a000005),
                    new ExtendedCommunity.LinkBandwidth(true, 65001, 125e6f),
                    new ExtendedCommunity.Color(0, 8))),
            new PathAttribute.Aigp(6),
            new PathAttribute.LargeCommunities(List.of(new LargeCommunity(65001, 3, 4))),
            new PathAttribute.Unknown(
                PathAttribute.OPTIONAL | PathAttribute.TRANSITIVE, 200, new byte[] {1, 2, 3, 4})),
        NextHop.of(Prefix.of(fabric().host()).address()));
  }

  private String showRoutes() {
    return AddressText.of(announced().inetAddress());
  }

  @Test
  void daemonsRouteIsReceivedWithAttributes() throws Exception {
    launch("", false);
    connect(options());
    await("the aggregate", () -> attributesOf(aggregate()) != null);
    assertAttributes(attributesOf(aggregate()));
    assertEquals(65002, attributesOf(aggregate()).asPath().first());
    assertEquals(0, speaker.callOnLoop(session::status).counters().attributeFaults());
  }

  @Test
  void daemonTakesOurRouteAndItsWithdrawal() throws Exception {
    launch("", false);
    connect(options());
    awaitEstablished();
    speaker.execute(() -> session.send(announcement()));
    await("our route in its table", () -> table().contains(showRoutes()));
    String shown = speakerRouteEntry();
    for (String attribute : ourAttributes()) {
      assertTrue(shown.contains(attribute), attribute + " isn't in " + shown);
    }
    speaker.execute(() -> session.send(UpdateMessage.withdraw(Nlri.of(announced()))));
    await("our route gone from its table", () -> !table().contains(showRoutes()));
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
  }

  @Test
  void sessionComesBackAfterItsEnd() throws Exception {
    Process first = launch("", false);
    connect(options());
    awaitEstablished();
    HostAndLeaf.end(first);
    await("the end", () -> heard.has("down"));
    launch("", false);
    await(
        "established again",
        () -> heard.events.stream().filter(each -> each.startsWith("established")).count() == 2);
  }

  /** Returns the daemon's process. */
  ProcessHandle daemonProcess(Process started) {
    return started.descendants().reduce((one, last) -> last).orElse(started.toHandle());
  }

  /** Kills and restarts a daemon that requests graceful restart (RFC 4724). */
  void assertRoutesAreKeptOverItsDeath() throws Exception {
    Process first = launch("", false);
    connect(options());
    await("end of rib", () -> heard.has("end of rib"));
    daemonProcess(first).destroyForcibly();
    await("the end", () -> heard.has("down CONNECTION_LOST kept"));
    launch("", false);
    await("the end of what was stale", () -> heard.has("drop stale"));
    assertTrue(heard.has("established 65002"));
  }

  @Test
  void operatorsResetIsReportedAndTheSessionReturns() throws Exception {
    launch("", false);
    connect(options());
    await("the aggregate", () -> attributesOf(aggregate()) != null);
    int before = heard.updates.size();
    reset();
    await(
        "the end and its reason",
        () -> heard.log.stream().anyMatch(line -> line.contains("down: " + resetMessage())));
    await(
        "established again",
        () -> heard.events.stream().filter(each -> each.startsWith("established")).count() == 2);
    await(
        "the aggregate again",
        () ->
            heard.updates.stream()
                .skip(before)
                .anyMatch(each -> each.announced().prefixes().contains(aggregate())));
  }

  @Test
  void onlyTheRightMd5KeyConnects() throws Exception {
    launch(key(), false);
    connect(options().md5Key(key() + "?").openWaitMs(1_000));
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1_500));
    assertFalse(heard.has("established"));
    speaker.remove(session, "");
    heard.events.clear();
    connect(options().md5Key(key()));
    awaitEstablished();
  }

  @Test
  void neighboursOnTheLinkPassTheHopLimitCheck() throws Exception {
    launch("", true);
    connect(options().gtsmHops(1));
    awaitEstablished();
    await("the aggregate", () -> attributesOf(aggregate()) != null);
  }
}
