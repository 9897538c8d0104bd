package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Test of the cost of decoding a full feed: 100,000 host routes with two communities each. */
class DecodingCostTest {
  private static final int ROUTES = 100_000;
  private static final int ATTRIBUTE_SETS = 391;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Returns the feed's messages in one byte array. */
  private static byte[] feed(int routesPerUpdate) {
    MessageEncoder encoder = new MessageEncoder(WireMessages.OPTIONS);
    NextHop nextHop = NextHop.of(Prefix.of("fd00:ff::1").address());
    List<byte[]> messages = new ArrayList<>();
    int total = 0;
    for (int first = 0; first < ROUTES; first += routesPerUpdate) {
      List<Prefix> some = new ArrayList<>();
      for (int i = first; i < Math.min(ROUTES, first + routesPerUpdate); i++) {
        some.add(new Prefix(0xfd00_0009_0000_0000L | i, 1, 128));
      }
      PathAttributes attributes =
          PathAttributes.of(
              PathAttribute.Origin.IGP,
              new PathAttribute.Path(AsPath.of(65100)),
              new PathAttribute.ExtendedCommunities(
                  List.of(
                      new ExtendedCommunity.PathBandwidth(
                          true, 0xc0a80101, 100 + (first >> 8) % ATTRIBUTE_SETS),
                      new ExtendedCommunity.Color(0, 7))));
      byte[] message = encoder.encode(UpdateMessage.announce(Nlri.of(some), attributes, nextHop));
      messages.add(message);
      total += message.length;
    }
    byte[] all = new byte[total];
    int at = 0;
    for (byte[] message : messages) {
      System.arraycopy(message, 0, all, at, message.length);
      at += message.length;
    }
    return all;
  }

  private long sum;

  private int read(MessageDecoder decoder, byte[] feed) {
    int routes = 0;
    for (int at = 0; at < feed.length; at += MessageDecoder.messageBytes(feed, at)) {
      UpdateMessage update = (UpdateMessage) decoder.decode(feed, at, feed.length - at);
      Nlri announced = update.announced();
      for (int i = 0; i < announced.size(); i++) {
        sum += announced.high(i);
      }
      routes += announced.size();
    }
    return routes;
  }

  /**
   * Returns the allocated bytes per route, once everything is compiled and every attribute set is
   * cached.
   */
  private double bytesPerRoute(byte[] feed) {
    MessageDecoder decoder = new MessageDecoder(WireMessages.OPTIONS);
    for (int i = 0; i < 5; i++) {
      assertEquals(ROUTES, read(decoder, feed));
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    long beganNs = System.nanoTime();
    read(decoder, feed);
    long tookNs = System.nanoTime() - beganNs;
    double bytes = (double) (threads.getCurrentThreadAllocatedBytes() - before) / ROUTES;
    System.out.printf(
        Locale.ROOT,
        "%d routes, %d bytes: %.1f ms, %.1f bytes allocated a route (%d)%n",
        ROUTES,
        feed.length,
        tookNs / 1e6,
        bytes,
        sum & 1);
    return bytes;
  }

  @Test
  void packedFeedAllocatesOnlyNumbersPerRoute() {
    assertTrue(bytesPerRoute(feed(128)) < 19, "16 for the address, 1 for the length, a share");
  }

  @Test
  void singleRouteUpdateAllocatesOnlyItsMessage() {
    assertTrue(bytesPerRoute(feed(1)) < 250);
  }
}
