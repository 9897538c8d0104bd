package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.FamilyCodec;
import io.heddle.bgp.wire.FamilyRoutes;
import io.heddle.bgp.wire.MessageEncoder;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.RouteRefreshMessage;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgp.wire.WireOptions;
import io.heddle.bgp.wire.WordsCodec;
import io.heddle.platform.testing.EndsWithin;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of sessions with families other than IPv6 unicast: two families for tests only. */
@EndsWithin(60)
class FamiliesTest {
  private static final WordsCodec WORDS = WordsCodec.INSTANCE;
  private static final WordsCodec NAMES = new WordsCodec(new AddressFamily(2, 251));
  private static final Families ALL = Families.IPV6_UNICAST.with(WORDS).with(NAMES);
  private static final Prefix ROUTE = Prefix.of("fd00:aa::/32");
  private static final NextHop NEXT_HOP = NextHop.of(Prefix.of("fd00::1").address());
  private static final String OF_WORDS = "end of rib IPv6/250";

  private final RecordingListener heard = new RecordingListener();
  private final RecordingListener other = new RecordingListener();
  private final BgpSpeaker speaker = new BgpSpeaker(heard.logTo());
  private final BgpSpeaker second = new BgpSpeaker(other.logTo());
  private RawPeer raw;

  @BeforeEach
  void openPeer() throws Exception {
    raw = new RawPeer();
  }

  @AfterEach
  void closeAll() throws Exception {
    speaker.close();
    second.close();
    raw.close();
  }

  private static PeerOptions.Builder options(int port, long ours, long theirs) {
    return PeerOptions.builder("peer")
        .remote(Prefix.of("::1").address())
        .port(port)
        .localAs(ours)
        .remoteAs(theirs)
        .routerId((int) ours)
        .retryMs(20, 100);
  }

  private PeerSession start(Families families) {
    PeerSession session =
        speaker.add(options(raw.port(), 65001, 65002).families(families).build(), heard);
    speaker.execute(session::start);
    return session;
  }

  /**
   * Connects the second speaker to the first; returns the first one's session, then the second
   * one's.
   */
  private List<PeerSession> connect(Families ours, Families theirs) {
    int port = speaker.listen(Endpoint.of(Prefix.of("::1").address(), 0, 0));
    PeerSession listening =
        speaker.add(options(179, 65001, 65002).families(ours).passive(true).build(), heard);
    PeerSession calling = second.add(options(port, 65002, 65001).families(theirs).build(), other);
    speaker.execute(listening::start);
    second.execute(calling::start);
    return List.of(listening, calling);
  }

  private static PathAttributes path(long... systems) {
    return PathAttributes.of(PathAttribute.Origin.IGP, new PathAttribute.Path(AsPath.of(systems)));
  }

  private static UpdateMessage announce(WordsCodec codec, long from, String... words) {
    return UpdateMessage.of(FamilyRoutes.announce(codec, List.of(words), null), path(from));
  }

  private static UpdateMessage withdraw(WordsCodec codec, String... words) {
    return UpdateMessage.of(FamilyRoutes.withdraw(codec, List.of(words)), PathAttributes.EMPTY);
  }

  private static Capability.Multiprotocol capability(WordsCodec codec) {
    return new Capability.Multiprotocol(codec.family());
  }

  @Test
  void twoSpeakersUseTheFamiliesThatBothSpeak() {
    List<PeerSession> both = connect(ALL, Families.IPV6_UNICAST.with(WORDS));
    heard.awaitEvent(OF_WORDS);
    other.awaitEvent(OF_WORDS);
    for (RecordingListener each : List.of(heard, other)) {
      /* Only these events count: an earlier attempt to connect may have failed. */
      assertEquals(
          List.of("end of rib", OF_WORDS),
          each.events.stream().filter(event -> event.startsWith("end of rib")).toList());
    }
    Negotiated negotiated = speaker.callOnLoop(both.getFirst()::status).negotiated();
    assertEquals(List.of(AddressFamily.IPV6_UNICAST, WORDS.family()), negotiated.families().all());
    speaker.execute(() -> {
      PeerSession session = both.getFirst();
      session.send(announce(NAMES, 65001, "nobody"));
      session.send(announce(WORDS, 65001, "warp", "weft"));
      session.send(UpdateMessage.announce(Nlri.of(ROUTE), path(65001), NEXT_HOP));
      session.send(withdraw(WORDS, "warp"));
    });
    other.await("all", () -> other.updates.size() == 3);
    assertEquals(
        List.of(
            announce(WORDS, 65001, "warp", "weft"),
            UpdateMessage.announce(Nlri.of(ROUTE), path(65001), NEXT_HOP),
            withdraw(WORDS, "warp")),
        other.updates);
    assertEquals(List.of("warp", "weft"), other.updates.getFirst().of(WORDS).announced());
    assertNull(other.updates.getFirst().of(NAMES));
    SessionCounters counters = second.callOnLoop(both.getLast()::status).counters();
    assertEquals(3, counters.announced());
    assertEquals(1, counters.withdrawn());
    assertFalse(speaker.callOnLoop(() -> both.getFirst().requestRefresh(NAMES.family())));
  }

  @Test
  void sessionNeedsNoIpv6Unicast() {
    Families words = Families.of(List.of(WORDS));
    List<PeerSession> both = connect(words, ALL);
    other.awaitEvent(OF_WORDS);
    second.execute(() -> {
      both.getLast().send(UpdateMessage.announce(Nlri.of(ROUTE), path(65002), NEXT_HOP));
      both.getLast().send(announce(WORDS, 65002, "weft"));
    });
    heard.await("the word", () -> !heard.updates.isEmpty());
    assertEquals(List.of(announce(WORDS, 65002, "weft")), heard.updates);
    assertFalse(heard.has("end of rib IPv6 unicast") || heard.events.contains("end of rib"));
  }

  @Test
  void refusalOfAPeerWithoutACommonFamilyNamesOurFamilies() throws Exception {
    start(Families.of(List.of(WORDS, NAMES)));
    raw.accept();
    raw.send(raw.open(30));
    assertInstanceOf(OpenMessage.class, raw.read());
    NotificationMessage refusal = assertInstanceOf(NotificationMessage.class, raw.read());
    assertEquals(
        new NotificationMessage(
            NotificationMessage.OPEN_ERROR,
            NotificationMessage.UNSUPPORTED_CAPABILITY,
            new byte[] {1, 4, 0, 2, 0, (byte) 250, 1, 4, 0, 2, 0, (byte) 251}),
        refusal);
    heard.awaitEvent("failed OPEN_REJECTED: the peer doesn't speak IPv6/250 or IPv6/251");
  }

  @Test
  void routesOfUnagreedFamiliesAreSkipped() throws Exception {
    PeerSession session = start(Families.IPV6_UNICAST.with(WORDS));
    establishWithWords();
    raw.speak(ALL);
    raw.send(announce(NAMES, 65002, "nobody"));
    raw.send(withdraw(NAMES, "nobody"));
    raw.send(announce(WORDS, 65002, "weft"));
    heard.await("the word", () -> heard.updates.size() == 3);
    assertEquals(0, heard.updates.getFirst().announcedRoutes());
    assertEquals(announce(WORDS, 65002, "weft"), heard.updates.getLast());
    SessionStatus status = speaker.callOnLoop(session::status);
    assertEquals(2, status.counters().skippedFamilies());
    assertEquals(SessionState.ESTABLISHED, status.state());
  }

  @Test
  void malformedRouteCountsAsWithdrawnAndTheOthersStay() throws Exception {
    PeerSession session = start(Families.IPV6_UNICAST.with(WORDS));
    establishWithWords();
    raw.send(announce(WORDS, 65002, "weft", "w4rp"));
    heard.await("both", () -> !heard.updates.isEmpty());
    FamilyRoutes<String> routes = heard.updates.getFirst().of(WORDS);
    assertEquals(List.of("weft"), routes.announced());
    assertEquals(List.of("w4rp"), routes.withdrawn());
    assertEquals(1, speaker.callOnLoop(session::status).counters().ignored());
    assertTrue(heard.log.toString().contains("a word of other things than letters"));
    raw.send(
        UpdateMessage.of(
            FamilyRoutes.announce(WORDS, List.of("weft"), null), PathAttributes.EMPTY));
    heard.await("the second", () -> heard.updates.size() == 2);
    assertEquals(
        List.of("weft"), heard.updates.getLast().of(WORDS).withdrawn(), "ORIGIN is missing");
  }

  @Test
  void routesThatCannotBeSeparatedEndTheSession() throws Exception {
    start(Families.IPV6_UNICAST.with(WORDS));
    establishWithWords();
    byte[] bytes =
        new MessageEncoder(WireOptions.DEFAULT.withFamilies(ALL)).encode(withdraw(WORDS, "weft"));
    bytes[bytes.length - 5] = 9;
    raw.send(bytes);
    NotificationMessage end = assertInstanceOf(NotificationMessage.class, raw.read());
    assertEquals(NotificationMessage.OPTIONAL_ATTRIBUTE_ERROR, end.subcode());
    heard.awaitEvent("down PEER_MALFORMED");
  }

  @Test
  void loopedRoutesAreWithdrawnInEveryFamily() throws Exception {
    PeerSession session = start(Families.IPV6_UNICAST.with(WORDS));
    establishWithWords();
    raw.send(
        UpdateMessage.of(
            FamilyRoutes.announce(WORDS, List.of("weft", "warp"), null), path(65002, 65001)));
    heard.await("the words", () -> !heard.updates.isEmpty());
    assertEquals(List.of(withdraw(WORDS, "weft", "warp")), heard.updates);
    assertEquals(2, speaker.callOnLoop(session::status).counters().looped());
  }

  @Test
  void routesAreKeptPerFamily() throws Exception {
    Capability restart =
        new Capability.GracefulRestart(
            false, true, 60, List.of(new Capability.GracefulRestart.Kept(WORDS.family(), true)));
    start(Families.IPV6_UNICAST.with(WORDS));
    establishWithWords(restart);
    raw.drop();
    heard.awaitEvent("down CONNECTION_LOST kept IPv6/250");
    establishWithWords(restart);
    raw.send(UpdateMessage.END_OF_RIB);
    raw.send(endOfRib(WORDS));
    heard.awaitEvent("drop stale IPv6/250");
    assertFalse(heard.events.contains("drop stale"));
  }

  @Test
  void refreshIsPerFamily() throws Exception {
    PeerSession session = start(Families.IPV6_UNICAST.with(WORDS));
    List<AddressFamily> asked = new CopyOnWriteArrayList<>();
    speaker.onRefreshRequest((peer, family) -> asked.add(family));
    establishWithWords(new Capability.EnhancedRouteRefresh());
    raw.send(RouteRefreshMessage.request(NAMES.family()));
    raw.send(RouteRefreshMessage.request(WORDS.family()));
    raw.send(new RouteRefreshMessage(WORDS.family(), RouteRefreshMessage.BEGIN, null));
    raw.send(new RouteRefreshMessage(WORDS.family(), RouteRefreshMessage.END, null));
    heard.awaitEvent("drop stale IPv6/250");
    assertEquals(List.of(WORDS.family()), asked);
    assertTrue(heard.has("stale IPv6/250"));
    assertTrue(speaker.callOnLoop(() -> session.requestRefresh(WORDS.family())));
    assertEquals(RouteRefreshMessage.request(WORDS.family()), raw.read());
  }

  @Test
  void manyRoutesAreSplitIntoMessages() {
    List<PeerSession> both = connect(ALL, ALL);
    other.awaitEvent(OF_WORDS);
    List<String> words =
        IntStream.range(0, 4_000)
            .mapToObj(i ->
                "word"
                    + (char) ('a' + i % 26)
                    + (char) ('a' + i / 26 % 26)
                    + (char) ('a' + i / 676))
            .toList();
    speaker.execute(() ->
        both.getFirst()
            .send(UpdateMessage.of(FamilyRoutes.announce(WORDS, words, null), path(65001))));
    other.await(
        "all",
        () -> other.updates.stream().mapToInt(UpdateMessage::announcedRoutes).sum() == 4_000);
    assertEquals(
        words,
        other.updates.stream().flatMap(each -> each.of(WORDS).announced().stream()).toList());
  }

  private static UpdateMessage endOfRib(FamilyCodec<?> codec) {
    return UpdateMessage.endsOfRib(Families.of(List.of(codec))).getFirst();
  }

  private void establishWithWords(Capability... more) throws Exception {
    raw.speak(Families.IPV6_UNICAST.with(WORDS));
    Capability[] all = Arrays.copyOf(more, more.length + 1);
    all[more.length] = capability(WORDS);
    raw.establish(all);
    assertEquals(endOfRib(WORDS), raw.read(), "End-of-RIB of the words");
  }
}
