package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.testing.EndsWithin;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of messages of more than 4096 bytes (RFC 8654), in both directions. */
@EndsWithin(60)
class ExtendedMessageTest {
  /* Prefixes of 17 bytes each: 59,500 bytes of routes. */
  private static final int ROUTES = 3500;

  private final RecordingListener heard = new RecordingListener();
  private final BgpSpeaker speaker = new BgpSpeaker(heard.logTo());
  private RawPeer peer;
  private PeerSession session;

  @BeforeEach
  void startSession() throws Exception {
    peer = new RawPeer();
    session =
        speaker.add(
            PeerOptions.builder("leaf")
                .remote(Prefix.of("::1").address())
                .port(peer.port())
                .localAs(65001)
                .remoteAs(65002)
                .routerId(0x0a000001)
                .retryMs(20, 100)
                .build(),
            heard);
    speaker.execute(session::start);
  }

  @AfterEach
  void closeBoth() throws Exception {
    speaker.close();
    peer.close();
  }

  private static UpdateMessage manyRoutes(int firstAs) {
    return UpdateMessage.announce(
        Nlri.of(IntStream.range(0, ROUTES).mapToObj(i -> new Prefix(7, i, 128)).toList()),
        PathAttributes.of(
            PathAttribute.Origin.IGP, new PathAttribute.Path(AsPath.of(firstAs, 65300))),
        NextHop.of(Prefix.of("fd00::1").address()));
  }

  @Test
  void wholeTableComesInOneMessage() throws Exception {
    peer.establish(new Capability.ExtendedMessage());
    peer.extendMessages();
    UpdateMessage routes = manyRoutes(65002);
    peer.send(routes);
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(List.of(routes), heard.updates);
    assertEquals(ROUTES, speaker.callOnLoop(session::status).counters().announced());
  }

  /*
   * A peer that doesn't offer long messages gets none from us. It may send some, because we offer
   * them.
   */
  @Test
  void longMessagesAreReadIfOnlyWeOfferThem() throws Exception {
    peer.establish();
    peer.extendMessages();
    UpdateMessage routes = manyRoutes(65002);
    peer.send(routes);
    peer.send(UpdateMessage.END_OF_RIB);
    heard.awaitEvent("end of rib");
    assertEquals(List.of(routes), heard.updates);
  }

  @Test
  void peerThatTakesLongMessagesGetsOne() throws Exception {
    peer.establish(new Capability.ExtendedMessage());
    heard.awaitEvent("established");
    peer.extendMessages();
    speaker.execute(() -> session.send(manyRoutes(65001)));
    assertEquals(manyRoutes(65001), peer.read());
  }

  @Test
  void peerWithoutLongMessagesGetsSeveralShortOnes() throws Exception {
    peer.establish();
    heard.awaitEvent("established");
    speaker.execute(() -> session.send(manyRoutes(65001)));
    int got = 0;
    int messages = 0;
    for (; got < ROUTES; messages++) {
      got += assertInstanceOf(UpdateMessage.class, peer.read()).announced().size();
    }
    assertEquals(ROUTES, got);
    assertTrue(messages >= 15, messages + " messages; RawPeer reads none longer than 4096 bytes");
  }

  @Test
  void longMessageBeforeTheOffersIsRefused() throws Exception {
    peer.accept();
    assertInstanceOf(OpenMessage.class, peer.read());
    peer.send(header(2, 60_000));
    assertRefused("ea60", "type 2 has 23 to 4096 bytes, not 60000");
  }

  /* OPEN and KEEPALIVE stay short in any case (RFC 8654 §4). */
  @Test
  void longOpenIsRefusedDespiteAgreedLongMessages() throws Exception {
    peer.establish(new Capability.ExtendedMessage());
    heard.awaitEvent("established");
    peer.send(header(1, 5000));
    assertRefused("1388", "type 1 has 29 to 4096 bytes, not 5000");
    assertTrue(heard.has("down PEER_MALFORMED"), heard.events.toString());
  }

  private void assertRefused(String data, String why) throws Exception {
    NotificationMessage answer = assertInstanceOf(NotificationMessage.class, peer.read());
    assertEquals("message header error/bad length (1/2) with " + data, answer.describe());
    assertNull(peer.read());
    heard.await("the reason", () -> (heard.events + " " + heard.log).contains(why));
  }

  /*
   * Returns the header of a message. The speaker refuses the message for this length, before the
   * rest has arrived.
   */
  private static byte[] header(int type, int length) {
    byte[] message = new byte[BgpMessage.HEADER_BYTES];
    Arrays.fill(message, 0, 16, (byte) -1);
    message[16] = (byte) (length >>> 8);
    message[17] = (byte) length;
    message[18] = (byte) type;
    return message;
  }
}
