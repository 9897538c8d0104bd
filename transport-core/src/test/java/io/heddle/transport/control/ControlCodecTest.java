package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Closing;
import io.heddle.transport.control.ControlMessage.Drain;
import io.heddle.transport.control.ControlMessage.Endpoint;
import io.heddle.transport.control.ControlMessage.Endpoints;
import io.heddle.transport.control.ControlMessage.Failed;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.control.ControlMessage.Hello;
import io.heddle.transport.control.ControlMessage.Malformed;
import io.heddle.transport.control.ControlMessage.Ping;
import io.heddle.transport.control.ControlMessage.PlaneAddress;
import io.heddle.transport.control.ControlMessage.PlaneDown;
import io.heddle.transport.control.ControlMessage.PlaneList;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.control.ControlMessage.PlaneReady;
import io.heddle.transport.control.ControlMessage.PlaneUp;
import io.heddle.transport.control.ControlMessage.Ready;
import io.heddle.transport.control.ControlMessage.ReconnectAddresses;
import io.heddle.transport.control.ControlMessage.Refused;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ControlCodecTest {
  private static final Gid ADDRESS =
      Gid.of(HexFormat.of().parseHex("fd000001000100010000000000000002"));
  private static final Hello HELLO =
      new Hello(
          9, 9, HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f"), 0x1112131415161718L);
  private static final PlaneList PLANES =
      new PlaneList(
          "h1",
          0x2122232425262728L,
          2,
          List.of(new PlaneOffer("colour:1", "if:p0", ADDRESS, 64, "p0", PathMtu.MTU_4096)));
  private static final Endpoints ENDPOINTS =
      new Endpoints(
          0x1122334455667788L,
          0xcafe,
          512,
          List.of(new Endpoint("if:p0", 0x12, 0xfffffe, new byte[] {1, 2})));

  /** Written by hand from the layout in ControlCodec's description. */
  private static final String HELLO_BYTES =
      "00000023"
          + "01"
          + "48444c43"
          + "0009"
          + "00000009"
          + "000102030405060708090a0b0c0d0e0f"
          + "1112131415161718";

  private static final String PLANES_BYTES =
      "00000032"
          + "02"
          + "02"
          + "6831"
          + "2122232425262728"
          + "02"
          + "01"
          + "08"
          + "636f6c6f75723a31"
          + "05"
          + "69663a7030"
          + "fd000001000100010000000000000002"
          + "40"
          + "027030"
          + "05";
  private static final String ENDPOINTS_BYTES =
      "00000023"
          + "03"
          + "1122334455667788"
          + "0000cafe"
          + "00000200"
          + "01"
          + "05"
          + "69663a7030"
          + "00000012"
          + "00fffffe"
          + "02"
          + "0102";

  private static final Fenced FENCED =
      new Fenced("a", 7, 0x101, 0x103, List.of(new Arrival(3, 15, 7, 64, 0x8000000000000001L)));
  private static final String FENCED_BYTES =
      "00000025"
          + "09"
          + "0161"
          + "00000007"
          + "0000000000000101"
          + "0000000000000103"
          + "0001"
          + "03"
          + "0f"
          + "07"
          + "40"
          + "8000000000000001";
  private static final String DOWN_BYTES = "0000000b08" + "0161" + "00000007" + "036f6666";
  private static final String UP_BYTES =
      "000000270a"
          + "0161"
          + "00000001"
          + "01"
          + "fd000001000100010000000000000002"
          + "05"
          + "01"
          + "0161"
          + "00000012"
          + "00fffffe"
          + "020102";
  private static final String PING_BYTES = "000000110e" + "0000000000000003" + "0000000000000005";
  private static final String RECONNECT_ADDRESSES_BYTES =
      "000000240d"
          + "000102030405060708090a0b0c0d0e0f"
          + "01"
          + "fd000001000100010000000000000002"
          + "1234";
  private static final String READY_BYTES = "000000070b" + "0161" + "00000001";
  private static final String DRAIN_BYTES = "000000040c" + "0161" + "01";

  private static String hex(ControlMessage message) {
    ByteBuffer frame = ControlCodec.encode(message, ControlCodec.newFrame());
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private static ControlMessage decode(String frameHex) {
    byte[] frame = HexFormat.of().parseHex(frameHex);
    return ControlCodec.decode(ByteBuffer.wrap(frame, 4, frame.length - 4).slice());
  }

  @Test
  void bytesMatchTheDescription() {
    assertEquals(HELLO_BYTES, hex(HELLO));
    assertEquals(PLANES_BYTES, hex(PLANES));
    assertEquals(ENDPOINTS_BYTES, hex(ENDPOINTS));
    assertEquals("0000000104", hex(new Ready()));
    assertEquals("0000000105", hex(new Closing()));
    assertEquals("0000000406" + "02" + "6e6f", hex(new Refused("no")));
    assertEquals("0000000407" + "02" + "6e6f", hex(new Failed("no")));
    assertEquals(FENCED_BYTES, hex(FENCED));
    assertEquals(DOWN_BYTES, hex(new PlaneDown("a", 7, "off")));
    assertEquals(
        UP_BYTES,
        hex(
            new PlaneUp(
                "a",
                1,
                List.of(new PlaneAddress(ADDRESS, PathMtu.MTU_4096)),
                List.of(new Endpoint("a", 0x12, 0xfffffe, new byte[] {1, 2})))));
    assertEquals(PING_BYTES, hex(new Ping(3, 5)));
    assertEquals(
        RECONNECT_ADDRESSES_BYTES,
        hex(
            new ReconnectAddresses(
                HELLO.token(), List.of(new InetSocketAddress(ADDRESS.toAddress(), 0x1234)))));
    assertEquals(READY_BYTES, hex(new PlaneReady("a", 1)));
    assertEquals(DRAIN_BYTES, hex(new Drain("a", true)));
  }

  @Test
  void encodedMessagesDecodeToTheSame() {
    Hello hello = assertInstanceOf(Hello.class, decode(HELLO_BYTES));
    assertEquals(9, hello.features());
    assertArrayEquals(HELLO.token(), hello.token());
    assertEquals(HELLO.call(), hello.call());
    assertEquals(PLANES, decode(PLANES_BYTES));
    Endpoints endpoints = assertInstanceOf(Endpoints.class, decode(ENDPOINTS_BYTES));
    assertEquals(ENDPOINTS.ringAddress(), endpoints.ringAddress());
    assertEquals(0xfffffe, endpoints.endpoints().getFirst().startPsn());
    assertArrayEquals(new byte[] {1, 2}, endpoints.endpoints().getFirst().parameters());
    assertEquals(new Refused("no"), decode("0000000406026e6f"));
    assertEquals(new Failed("no"), decode("0000000407026e6f"));
    assertEquals(FENCED, decode(FENCED_BYTES));
    assertEquals(new PlaneDown("a", 7, "off"), decode(DOWN_BYTES));
    PlaneUp up = assertInstanceOf(PlaneUp.class, decode(UP_BYTES));
    assertEquals(List.of(new PlaneAddress(ADDRESS, PathMtu.MTU_4096)), up.addresses());
    assertEquals(0x12, up.endpoints().getFirst().queuePairNumber());
    assertEquals(new PlaneReady("a", 1), decode(READY_BYTES));
    assertEquals(new Drain("a", true), decode(DRAIN_BYTES));
    assertEquals(new Ping(3, 5), decode(PING_BYTES));
    ReconnectAddresses doors =
        assertInstanceOf(ReconnectAddresses.class, decode(RECONNECT_ADDRESSES_BYTES));
    assertArrayEquals(HELLO.token(), doors.ticket());
    assertEquals(0x1234, doors.addresses().getFirst().getPort());
  }

  static List<String> messages() {
    return List.of(
        HELLO_BYTES,
        PLANES_BYTES,
        ENDPOINTS_BYTES,
        "0000000104",
        "0000000406026e6f",
        "0000000407026e6f",
        FENCED_BYTES,
        DOWN_BYTES,
        UP_BYTES,
        PING_BYTES,
        RECONNECT_ADDRESSES_BYTES,
        READY_BYTES,
        DRAIN_BYTES);
  }

  @ParameterizedTest
  @MethodSource("messages")
  void truncatedOrExtendedMessageIsMalformed(String frame) {
    for (int end = 10; end < frame.length(); end += 2) {
      assertInstanceOf(Malformed.class, decode(frame.substring(0, end)), frame.substring(0, end));
    }
    assertInstanceOf(Malformed.class, decode(frame + "00"));
  }

  @Test
  void otherProtocolIsIdentifiedAndOtherVersionReported() {
    Malformed stranger =
        assertInstanceOf(Malformed.class, decode(HELLO_BYTES.replace("48444c43", "47455420")));
    assertEquals("a peer that isn't Heddle", stranger.reason());
    Hello later =
        assertInstanceOf(
            Hello.class, decode(HELLO_BYTES.replace("48444c430009", "48444c43000a") + "77"));
    assertEquals(10, later.version());
    String withoutCall = HELLO_BYTES.substring(0, HELLO_BYTES.length() - 16);
    Hello earlier =
        assertInstanceOf(Hello.class, decode(withoutCall.replace("48444c430009", "48444c430004")));
    assertEquals(4, earlier.version());
  }

  @Test
  void impossibleNumbersAreMalformed() {
    assertInstanceOf(Malformed.class, decode("0000000163"), "no such type");
    assertInstanceOf(
        Malformed.class, decode(FENCED_BYTES.replace("030f0740", "03100740")), "generation 16");
    assertInstanceOf(
        Malformed.class, decode(FENCED_BYTES.replace("030f0740", "030f0840")), "receive 8");
    assertInstanceOf(
        Malformed.class, decode(FENCED_BYTES.replace("030f0740", "030f0741")), "65 chunks");
    assertInstanceOf(
        Malformed.class,
        decode(PLANES_BYTES.substring(0, PLANES_BYTES.length() - 2) + "06"),
        "MTU 6");
    assertInstanceOf(
        Malformed.class, decode(PLANES_BYTES.replace("40" + "027030", "81" + "027030")), "/129");
    assertInstanceOf(
        Malformed.class, decode(ENDPOINTS_BYTES.replace("00fffffe", "01fffffe")), "PSN of 25 bits");
    assertInstanceOf(
        Malformed.class, decode(ENDPOINTS_BYTES.replace("00000200", "00000000")), "no receives");
    assertInstanceOf(
        Malformed.class,
        decode("0000000c" + "02" + "00" + "0000000000000000" + "01" + "41"),
        "65 planes");
    for (String queuePairs : List.of("00", "09", "ff")) {
      assertInstanceOf(
          Malformed.class, decode(PLANES_BYTES.replace("2728" + "02", "2728" + queuePairs)));
    }
  }

  @Test
  void controlCharactersOfAPeerDoNotReachALog() {
    assertEquals(new Refused("a?[2Jb"), decode("0000000806" + "06" + "611b5b324a62"));
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void damagedMessagesDecodeToValues(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = HexFormat.of().parseHex(messages().get(random.nextInt(messages().size())));
      for (int damage = random.nextInt(4); damage >= 0; damage--) {
        bytes[4 + random.nextInt(bytes.length - 4)] = (byte) random.nextInt();
      }
      anyFrameIsAMessageOrMalformed(bytes);
    }
  }

  /** With {@code JAZZER_FUZZ=1} the fuzzer searches for frames that cause an exception. */
  @FuzzTest(maxDuration = "30s")
  void anyFrameIsAMessageOrMalformed(byte[] bytes) {
    ControlMessage message = ControlCodec.decode(ByteBuffer.wrap(bytes));
    if (!(message instanceof Malformed)) {
      ByteBuffer frame = ControlCodec.encode(message, ControlCodec.newFrame());
      assertTrue(frame.remaining() <= 4 + ControlCodec.MAX_FRAME_BYTES);
      assertEquals(frame.remaining() - 4, frame.getInt(0));
    }
  }
}
