package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OrfEntry;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.RouteRefreshMessage;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.testing.EndsWithin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Tests of a speaker on ::1 with a scripted peer. */
@EndsWithin(60)
class PeerSessionTest {
  private static final Prefix ROUTE = Prefix.of("fd00:aa::/32");
  private static final NextHop NEXT_HOP = NextHop.of(Prefix.of("fd00::1").address());

  private final RecordingListener heard = new RecordingListener();
  private final BgpSpeaker speaker = new BgpSpeaker(heard.logTo());
  private RawPeer peer;

  @BeforeEach
  void openPeer() throws Exception {
    peer = new RawPeer();
  }

  @AfterEach
  void closeBoth() throws Exception {
    speaker.close();
    peer.close();
  }

  private PeerOptions.Builder options() {
    return PeerOptions.builder("leaf")
        .remote(Prefix.of("::1").address())
        .port(peer.port())
        .localAs(65001)
        .remoteAs(65002)
        .routerId(0x0a000001)
        .retryMs(20, 100);
  }

  private PeerSession start(PeerOptions.Builder options) {
    PeerSession session = speaker.add(options.build(), heard);
    speaker.execute(session::start);
    return session;
  }

  private static PathAttributes path(long... systems) {
    return PathAttributes.of(PathAttribute.Origin.IGP, new PathAttribute.Path(AsPath.of(systems)));
  }

  /* An error thrown by the listener stands for any error that a peer's message may cause. */
  @Test
  void listenersFaultEndsOnlyThatPeersSession() throws Exception {
    List<Throwable> ends = new CopyOnWriteArrayList<>();
    speaker.loop().onPersistentFailure(ends::add);
    heard.breakBy = new AssertionError("on purpose");
    PeerSession session = start(options());
    peer.establish();
    peer.send(UpdateMessage.announce(Nlri.of(ROUTE), path(65002), NEXT_HOP));
    heard.awaitEvent("down");
    assertTrue(
        heard.log.stream().anyMatch(line -> line.contains("serving a descriptor failed")),
        heard.log::toString);
    peer.establish();
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
    assertEquals(List.of(), ends);
  }

  @Test
  void routesArriveInOrder() throws Exception {
    start(options());
    peer.establish();
    UpdateMessage announced = UpdateMessage.announce(Nlri.of(ROUTE), path(65002), NEXT_HOP);
    UpdateMessage withdrawn = UpdateMessage.withdraw(Nlri.of(ROUTE));
    peer.send(announced);
    peer.send(withdrawn);
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(List.of(announced, withdrawn), heard.updates);
    assertEquals(List.of("established 65002", "end of rib"), heard.events);
  }

  @Test
  void loopedRouteIsWithdrawn() throws Exception {
    PeerSession session = start(options());
    peer.establish();
    peer.send(UpdateMessage.announce(Nlri.of(ROUTE), path(65002, 65001), NEXT_HOP));
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(List.of(UpdateMessage.withdraw(Nlri.of(ROUTE))), heard.updates);
    assertEquals(1, speaker.callOnLoop(session::status).counters().looped());
  }

  @Test
  void malformedRouteIsWithdrawnAndTheSessionStays() throws Exception {
    PeerSession session = start(options());
    peer.establish();
    peer.send(UpdateMessage.announce(Nlri.of(ROUTE), PathAttributes.EMPTY, NEXT_HOP));
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(List.of(ROUTE), heard.updates.getFirst().withdrawn().prefixes());
    assertEquals(1, speaker.callOnLoop(session::status).counters().attributeFaults());
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
    assertTrue(heard.log.toString().contains("malformed attribute 1: it is missing"));
  }

  @Test
  void hostileUpdatesLoseTheirRouteButNoSession() throws Exception {
    PeerSession session = start(options());
    peer.establish();
    String reach =
        "800e26 0002 01 10 fd0000ff000000000000000000000002 00 80fd000009000000000000000000000001";
    String good = reach + "40010100 400206 0201 0000fdea";
    List<String> hostile =
        List.of(
            good + "c01007 0180c0a8010101",
            good + "40c804 61626364",
            good + "c01000",
            good + "80040100",
            reach + "40010107 400206 0201 0000fdea",
            reach + "40010100 400206 02ff 0000fdea",
            reach + "40010100 400206 0900 0000fdea",
            reach + "40010100",
            good + "c0ff",
            good + "d010ffff 00");
    for (String attributes : hostile) {
      byte[] raw = HexFormat.of().parseHex(attributes.replace(" ", ""));
      String length =
          "%04x%s".formatted(23 + raw.length, "02") + "0000" + "%04x".formatted(raw.length);
      peer.send(HexFormat.of().parseHex("ff".repeat(16) + length + HexFormat.of().formatHex(raw)));
    }
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(hostile.size(), heard.updates.size());
    for (UpdateMessage update : heard.updates) {
      assertEquals("[fd00:9::1/128]", update.withdrawn().toString());
      assertTrue(update.announced().isEmpty());
    }
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
    /* Each attribute is logged once, regardless of earlier faults. */
    assertEquals(List.of(16, 200, 4, 1, 2, 255), attributesInTheLog());
    assertEquals(
        hostile.size(),
        speaker.callOnLoop(session::status).counters().attributeFaults(),
        "all counted");
  }

  private List<Integer> attributesInTheLog() {
    return heard.log.stream()
        .filter(line -> line.contains("malformed attribute"))
        .map(line -> Integer.valueOf(line.replaceAll(".*attribute (\\d+):.*", "$1")))
        .toList();
  }

  @Test
  void malformedAttributesAreLoggedOncePerSession() throws Exception {
    start(options());
    for (int session = 1; session <= 2; session++) {
      peer.establish();
      for (int i = 0; i < 3; i++) {
        peer.send(UpdateMessage.announce(Nlri.of(ROUTE), PathAttributes.EMPTY, NEXT_HOP));
      }
      int updates = 3 * session;
      heard.await("updates", () -> heard.updates.size() == updates);
      assertEquals(session, attributesInTheLog().size(), heard.log.toString());
      peer.drop();
    }
  }

  @Test
  void connectionDuringIdleHoldTimeIsLogged() throws Exception {
    int port = speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
    PeerSession session = start(options().retryMs(600_000, 600_000));
    assertEquals(-1, speaker.callOnLoop(session::status).idleForMs());
    peer.accept();
    peer.send(new byte[100]);
    heard.awaitEvent("failed PEER_MALFORMED");
    for (int i = 0; i < 3; i++) {
      try (RawPeer again = new RawPeer()) {
        again.connect(port);
        assertNull(again.read());
      }
    }
    SessionStatus status = speaker.callOnLoop(session::status);
    assertEquals(3, status.counters().rejected());
    assertTrue(status.idleForMs() > 400_000 && status.idleForMs() <= 600_000);
    assertEquals(SessionState.IDLE, status.state());
    List<String> told = heard.log.stream().filter(line -> line.contains("is rejected")).toList();
    assertEquals(1, told.size(), heard.log.toString());
    assertTrue(
        told.getFirst().matches("peer leaf: it connects, .* for another \\d+\\.\\d s, .*marker.*"),
        told.getFirst());
  }

  @Test
  void connectionBesideASessionIsLoggedOnce() throws Exception {
    int port = speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
    PeerSession session = start(options());
    peer.establish();
    heard.awaitEvent("established");
    for (int i = 0; i < 2; i++) {
      try (RawPeer again = new RawPeer()) {
        again.connect(port);
        assertNull(again.read());
      }
    }
    assertEquals(2, speaker.callOnLoop(session::status).counters().rejected());
    assertEquals(1, heard.log.stream().filter(line -> line.contains("connects again")).count());
  }

  @Test
  void badPeerLeavesTheOthersAlone() throws Exception {
    RecordingListener good = new RecordingListener();
    try (RawPeer other = new RawPeer()) {
      PeerSession there =
          speaker.add(
              PeerOptions.builder("other")
                  .remote(Prefix.of("::1").address())
                  .port(other.port())
                  .localAs(65001)
                  .remoteAs(65002)
                  .routerId(0x0a000001)
                  .build(),
              good);
      speaker.execute(there::start);
      other.establish();
      good.awaitEvent("established");
      start(options());
      for (int i = 0; i < 3; i++) {
        peer.accept();
        peer.send(new byte[100_000]);
        peer.drop();
      }
      heard.await("three failures", () -> heard.events.size() >= 3);
      other.send(UpdateMessage.END_OF_RIB);
      good.awaitEvent("end of rib");
      assertEquals(List.of("established 65002", "end of rib"), good.events);
    }
  }

  @Test
  void garbageIsAnsweredAndTheSessionRetried() throws Exception {
    start(options());
    peer.accept();
    peer.read();
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    NotificationMessage answer = assertInstanceOf(NotificationMessage.class, peer.read());
    assertEquals("message header error/not synchronised (1/1)", answer.describe());
    assertNull(peer.read());
    heard.awaitEvent("failed PEER_MALFORMED: byte 0 of the marker is 0x48");
    peer.establish();
    heard.awaitEvent("established");
  }

  @Test
  void routesSurviveAGracefulRestart() throws Exception {
    Capability restart =
        new Capability.GracefulRestart(
            false,
            true,
            30,
            List.of(new Capability.GracefulRestart.Kept(AddressFamily.IPV6_UNICAST, true)));
    start(options());
    peer.establish(restart);
    heard.awaitEvent("established");
    peer.drop();
    heard.awaitEvent("down CONNECTION_LOST kept");
    peer.establish(restart);
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("drop stale");
    assertEquals(
        List.of(
            "established 65002",
            "down CONNECTION_LOST kept",
            "established 65002",
            "end of rib",
            "drop stale"),
        heard.events);
  }

  @Test
  void restartedPeerWithoutForwardingStateLosesItsRoutes() throws Exception {
    List<Capability.GracefulRestart.Kept> lost =
        List.of(new Capability.GracefulRestart.Kept(AddressFamily.IPV6_UNICAST, false));
    start(options());
    peer.establish(new Capability.GracefulRestart(false, true, 1, lost));
    heard.awaitEvent("established");
    peer.drop();
    heard.awaitEvent("down CONNECTION_LOST kept");
    peer.establish(new Capability.GracefulRestart(true, true, 1, lost));
    heard.awaitEvent("drop stale");
  }

  @Test
  void staleRoutesAreDroppedAfterTheRestartTime() throws Exception {
    start(options());
    peer.establish(
        new Capability.GracefulRestart(
            false,
            true,
            1,
            List.of(new Capability.GracefulRestart.Kept(AddressFamily.IPV6_UNICAST, true))));
    heard.awaitEvent("established");
    peer.close();
    heard.awaitEvent("drop stale");
    assertEquals(
        List.of("established 65002", "down CONNECTION_LOST kept"),
        List.copyOf(heard.events).subList(0, 2));
    heard.awaitEvent("failed UNREACHABLE: can't connect: ECONNREFUSED (111)");
  }

  @Test
  void refreshIsMarkedFromBeginToEnd() throws Exception {
    PeerSession session = start(options());
    peer.establish(new Capability.EnhancedRouteRefresh());
    heard.awaitEvent("established");
    assertTrue(speaker.callOnLoop(() -> session.requestRefresh(AddressFamily.IPV6_UNICAST)));
    assertEquals(RouteRefreshMessage.request(AddressFamily.IPV6_UNICAST), peer.read());
    peer.send(new RouteRefreshMessage(AddressFamily.IPV6_UNICAST, RouteRefreshMessage.BEGIN, null));
    peer.send(UpdateMessage.announce(Nlri.of(ROUTE), path(65002), NEXT_HOP));
    peer.send(new RouteRefreshMessage(AddressFamily.IPV6_UNICAST, RouteRefreshMessage.END, null));
    heard.awaitEvent("drop stale");
    assertEquals(List.of("established 65002", "stale", "drop stale"), heard.events);
    assertEquals(1, heard.updates.size());
  }

  @Test
  void longFilterDefersThePeersAnswer() throws Exception {
    PeerSession session = start(options().filters(true));
    peer.establish(
        new Capability.OutboundRouteFilter(
            List.of(
                new Capability.OutboundRouteFilter.Offer(
                    AddressFamily.IPV6_UNICAST, 64, Capability.OutboundRouteFilter.RECEIVE))));
    heard.awaitEvent("established");
    List<OrfEntry> lines =
        IntStream.range(1, 401).mapToObj(i -> OrfEntry.permit(i, new Prefix(1, i, 128))).toList();
    assertTrue(speaker.callOnLoop(() -> session.sendFilter(AddressFamily.IPV6_UNICAST, lines)));
    int seen = 0;
    for (int left = 400; left > 0; left -= OrfEntry.HOSTS_PER_MESSAGE) {
      RouteRefreshMessage message = assertInstanceOf(RouteRefreshMessage.class, peer.read());
      assertEquals(left <= OrfEntry.HOSTS_PER_MESSAGE, message.filter().immediate());
      seen += message.filter().entries().size();
    }
    assertEquals(400, seen);
  }

  @Test
  void peerThatTakesNoFilterGetsNone() throws Exception {
    PeerSession session = start(options().filters(true));
    peer.establish();
    heard.awaitEvent("established");
    assertTrue(
        !speaker.callOnLoop(() ->
            session.sendFilter(AddressFamily.IPV6_UNICAST, List.of(OrfEntry.permit(1, ROUTE)))));
  }

  @Test
  void shutdownHasTheOperatorsSentence() throws Exception {
    PeerSession session = start(options());
    peer.establish();
    heard.awaitEvent("established");
    speaker.execute(() -> session.stop("plane-1 maintenance"));
    NotificationMessage bye = assertInstanceOf(NotificationMessage.class, peer.read());
    assertEquals("plane-1 maintenance", bye.shutdownText());
    assertNull(peer.read());
    heard.awaitEvent("down STOPPED");
    assertEquals(SessionState.IDLE, speaker.callOnLoop(session::state));
  }

  @RepeatedTest(10)
  void twoSpeakersThatBothConnectGetOneSession() throws Exception {
    RecordingListener others = new RecordingListener();
    try (BgpSpeaker other = new BgpSpeaker(others.logTo())) {
      int port = speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
      int otherPort = other.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
      PeerSession here = start(options().port(otherPort));
      PeerSession there =
          other.add(
              PeerOptions.builder("host")
                  .remote(Prefix.of("::1").address())
                  .port(port)
                  .localAs(65002)
                  .remoteAs(65001)
                  .routerId(0x0a000002)
                  .retryMs(20, 100)
                  .build(),
              others);
      other.execute(there::start);
      heard.awaitEvent("established 65002");
      others.awaitEvent("established 65001");
      UpdateMessage update =
          UpdateMessage.announce(
              Nlri.of(IntStream.range(0, 5000).mapToObj(i -> new Prefix(7, i, 128)).toList()),
              path(65001),
              NEXT_HOP);
      heard.await(
          "both stay up",
          () ->
              speaker.callOnLoop(here::state) == SessionState.ESTABLISHED
                  && other.callOnLoop(there::state) == SessionState.ESTABLISHED);
      speaker.execute(() -> here.send(update));
      others.await(
          "5000 routes",
          () -> others.updates.stream().mapToInt(each -> each.announced().size()).sum() == 5000);
    }
  }

  @Test
  void unknownAddressIsRejectedAndLoggedOnce() throws Exception {
    int port = speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
    try (RawPeer stranger = new RawPeer();
        RawPeer second = new RawPeer()) {
      stranger.connect(port);
      assertNull(stranger.read());
      second.connect(port);
      assertNull(second.read());
    }
    assertEquals(2, speaker.unknownPeers());
    assertEquals(1, heard.log.stream().filter(line -> line.contains("is no peer")).count());
  }

  @Test
  void invalidOptionsAreReported() {
    IllegalArgumentException hold =
        org.junit.jupiter.api.Assertions.assertThrows(
            IllegalArgumentException.class, () -> options().holdTimeSeconds(2).build());
    assertEquals("peer leaf: hold time 2 isn't 0 or 3 to 65535 s", hold.getMessage());
    IllegalArgumentException link =
        org.junit.jupiter.api.Assertions.assertThrows(
            IllegalArgumentException.class,
            () -> options().remote(Prefix.of("fe80::1").address()).build());
    assertTrue(link.getMessage().contains("needs an interface"));
  }

  @Test
  void closedSpeakerLeaksNoDescriptor() throws Exception {
    PeerSession session = start(options().onInterface("lo").bfd(new BfdOptions(100, 3)));
    peer.establish();
    heard.awaitEvent("established");
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
    long open = descriptors();
    speaker.close();
    peer.close();
    /*
     * The speaker had six: epoll, eventfd, the connection, netlink, BFD's receiver and its sender.
     * The scripted peer's two sockets aren't counted: Java closes them.
     */
    heard.await("closed descriptors", () -> descriptors() <= open - 6);
  }

  private static long descriptors() {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
