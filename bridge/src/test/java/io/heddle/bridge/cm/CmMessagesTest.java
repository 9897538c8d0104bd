package io.heddle.bridge.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Codecs of the communication manager's messages: messages of the kernel, of the bridge, and
 * invalid ones.
 */
class CmMessagesTest {
  /* Captured from udaddy between two rxe devices, Linux 6.1 (Debian 12). Zeros follow. */
  private static final String KERNELS_REQUEST =
      "010702030000000000000002c17666090017000000000000096676c1ffff00000000000001111c060060e985"
          + "fd00000a000000000000000000000001fd00000b000000000000000000000001";
  private static final String KERNELS_REPLY =
      "010702030000000000000002c17666090018000000000000096676c100000000000011000000000001111c06"
          + "01234567";

  private final Arena arena = Arena.ofConfined();
  private final long mad = Memory.allocate(arena, ManagementDatagram.BYTES, 8);

  @AfterEach
  void free() {
    arena.close();
  }

  private static Gid address(String text) {
    return Gid.of(Objects.requireNonNull(AddressText.parse(text)));
  }

  private void put(byte[] bytes) {
    for (int i = 0; i < ManagementDatagram.BYTES; i++) {
      byte value = i < bytes.length ? bytes[i] : 0;
      Memory.ALL.set(ValueLayout.JAVA_BYTE, mad + i, value);
    }
  }

  private void put(String hex) {
    put(HexFormat.of().parseHex(hex));
  }

  private String hex() {
    return HexFormat.of()
        .formatHex(Memory.toArray(mad, ManagementDatagram.BYTES))
        .replaceFirst("(00)*$", "");
  }

  private CmMessage message() {
    return ManagementDatagram.messageOf(mad, ManagementDatagram.BYTES);
  }

  @Test
  void readsAndWritesKernelsRequest() {
    put(KERNELS_REQUEST);
    assertEquals(CmMessage.SIDR_REQUEST, message());
    assertEquals(0x096676c1, SidrRequest.requestId(mad));
    assertEquals(0x2_c176_6609L, ManagementDatagram.transaction(mad));
    assertEquals(CmaHeader.datagramService(7174), SidrRequest.serviceId(mad));
    long header = SidrRequest.privateData(mad);
    assertTrue(CmaHeader.isService(SidrRequest.serviceId(mad)));
    assertTrue(CmaHeader.isValid(header));
    assertEquals(6, CmaHeader.ipVersion(header));
    assertEquals(0xe985, CmaHeader.port(header));
    assertEquals(address("fd00:a::1"), CmaHeader.source(header));
    assertEquals(address("fd00:b::1"), CmaHeader.destination(header));
    assertEquals(
        "SIDR_REQ 0x096676c1, transaction 0x00000002c1766609, service 0x0000000001111c06,"
            + " from fd00:a::1 port 59781 to fd00:b::1",
        SidrRequest.describe(mad));
    SidrRequest.write(mad, 0x2_c176_6609L, 0x096676c1, CmaHeader.datagramService(7174));
    CmaHeader.write(header, 0xe985, address("fd00:a::1"), address("fd00:b::1"));
    assertEquals(KERNELS_REQUEST, hex());
  }

  @Test
  void readsAndWritesKernelsReply() {
    put(KERNELS_REPLY);
    assertEquals(CmMessage.SIDR_REPLY, message());
    assertEquals(0x096676c1, SidrReply.requestId(mad));
    assertEquals(SidrReply.STATUS_SUCCESS, SidrReply.status(mad));
    assertEquals(0x11, SidrReply.queuePair(mad));
    assertEquals(0x01234567, SidrReply.queueKey(mad));
    assertEquals(CmaHeader.datagramService(7174), SidrReply.serviceId(mad));
    assertEquals(
        "SIDR_REP 0x096676c1, transaction 0x00000002c1766609, status 0, queue pair 0x000011,"
            + " queue key 0x01234567, service 0x0000000001111c06",
        SidrReply.describe(mad));
    SidrReply.write(
        mad, 0x2_c176_6609L, 0x096676c1, 0, 0x11, 0x01234567, CmaHeader.datagramService(7174));
    assertEquals(KERNELS_REPLY, hex());
  }

  @Test
  void replacingIdAndAddressesChangesNothingElse() {
    put(KERNELS_REQUEST);
    SidrRequest.setRequestId(mad, 0xcafe_f00d);
    CmaHeader.setAddresses(SidrRequest.privateData(mad), address("10.1.0.1"), address("10.2.0.2"));
    assertEquals(
        KERNELS_REQUEST
            .replace("096676c1", "cafef00d")
            .replace("0060e985", "0040e985")
            .replace("fd00000a000000000000000000000001", "0000000000000000000000000a010001")
            .replace("fd00000b000000000000000000000001", "0000000000000000000000000a020002"),
        hex());
    assertEquals(address("10.1.0.1"), CmaHeader.source(SidrRequest.privateData(mad)));
    assertEquals(address("10.2.0.2"), CmaHeader.destination(SidrRequest.privateData(mad)));
  }

  @Test
  void rejectionContainsRequestAndReason() {
    ConnectReject.write(mad, 7, 0x1234, ConnectReject.REASON_TRANSPORT_SERVICE);
    assertEquals(CmMessage.CONNECT_REJECT, message());
    assertEquals("0107020300000000" + "0000000000000007" + "0012" + "000000000000", prefix(24));
    assertEquals("00000000" + "00001234" + "0000" + "0009", hex().substring(48));
    assertTrue(ConnectReject.refusesRequest(mad));
    assertEquals(0x1234, ConnectReject.remoteId(mad));
    assertEquals(9, ConnectReject.reason(mad));
  }

  private String prefix(int bytes) {
    return HexFormat.of().formatHex(Memory.toArray(mad, bytes));
  }

  @Test
  void distinguishesMalformedForeignAndOtherMessages() {
    put(KERNELS_REQUEST.replaceFirst("^0107", "0104"));
    assertEquals(CmMessage.FOREIGN, message());
    put(KERNELS_REQUEST.replaceFirst("^0107", "0207"));
    assertEquals(CmMessage.MALFORMED, message());
    put(KERNELS_REQUEST.replaceFirst("^010702", "010701"));
    assertEquals(CmMessage.MALFORMED, message());
    put(KERNELS_REQUEST.replaceFirst("^01070203", "01070281"));
    assertEquals(CmMessage.MALFORMED, message());
    put(KERNELS_REQUEST.replace("0017000000000000", "0015000000000000"));
    assertEquals(CmMessage.OTHER, message());
    put(KERNELS_REQUEST);
    assertEquals(CmMessage.MALFORMED, ManagementDatagram.messageOf(mad, 252));
  }

  /* Every byte derives from the seed, so a failure is reproducible. */
  @Test
  void parsesCorruptAndRandomBytesSafely() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    Set<CmMessage> seen = EnumSet.noneOf(CmMessage.class);
    for (int i = 0; i < 4_000; i++) {
      byte[] bytes = new byte[ManagementDatagram.BYTES];
      byte[] real = HexFormat.of().parseHex(i % 2 == 0 ? KERNELS_REQUEST : KERNELS_REPLY);
      System.arraycopy(real, 0, bytes, 0, real.length);
      if (i % 5 == 0) {
        random.nextBytes(bytes);
      }
      for (int spoilt = random.nextInt(4); spoilt > 0; spoilt--) {
        bytes[random.nextInt(random.nextBoolean() ? 20 : 80)] = (byte) random.nextInt();
      }
      put(bytes);
      CmMessage message = message();
      seen.add(message);
      String text = message == CmMessage.SIDR_REPLY ? SidrReply.describe(mad) : describe(message);
      assertNotNull(text, "seed " + seed);
      byte[] after = Memory.toArray(mad, ManagementDatagram.BYTES);
      assertEquals(
          HexFormat.of().formatHex(bytes), HexFormat.of().formatHex(after), "seed " + seed);
    }
    assertTrue(seen.contains(CmMessage.SIDR_REQUEST), "seed " + seed);
    assertTrue(seen.contains(CmMessage.MALFORMED), "seed " + seed);
  }

  private String describe(CmMessage message) {
    if (message != CmMessage.SIDR_REQUEST) {
      return message.name();
    }
    long header = SidrRequest.privateData(mad);
    if (CmaHeader.isValid(header)) {
      boolean ipv4 = CmaHeader.ipVersion(header) == 4;
      assertEquals(ipv4, CmaHeader.source(header).isIpv4Mapped() && ipv4);
    } else {
      assertFalse(SidrRequest.describe(mad).contains(" port "));
    }
    return SidrRequest.describe(mad);
  }
}
