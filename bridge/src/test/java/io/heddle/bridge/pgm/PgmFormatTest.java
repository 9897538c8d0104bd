package io.heddle.bridge.pgm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/**
 * Codec of PGM packets: packets of other programs, packets that it has written, and invalid ones.
 */
class PgmFormatTest {
  /*
   * Packets of ZeroMQ (OpenPGM) from tcpdump's test files. Expected values are from tcpdump's
   * output.
   */
  private static final String SPM =
      "340815bb0000271a3329041eba7400000001681e000054720000d6a6000100000a00002d";
  private static final String DATA_FRONT = "340815bb040034873329041eba74059c0000d6a700005472";
  private static final int DATA_BYTES = 1436;
  private static final String POLL =
      "04d2162e0100000083f2d6491cb3000000000000000000000001"
          + "00000a00020f000000000000000000000000";
  private static final String POLR = "162e04d20200000083f2d6491cb300000000000000000000";
  private static final long SESSION = 0x3329_041e_ba74_3408L;

  /* NAKs with a list of two more numbers, for IPv4 and for IPv6, made by hand from RFC 3208. */
  private static final String NAK =
      "15bb3408080100003329041eba7400000000d6a8"
          + "000100000a00002d00010000efff0010"
          + "00040010"
          + "820c0000"
          + "0000d6a90000d6ab";
  private static final String NAK6 =
      "15bb3408080000003329041eba7400000000d6a8"
          + "00020000fd010000000000000000000000000001"
          + "00020000ff050000000000000000000000010003";

  private static byte[] data(int bytes) {
    byte[] front = HexFormat.of().parseHex(DATA_FRONT);
    byte[] all = new byte[front.length + bytes];
    System.arraycopy(front, 0, all, 0, front.length);
    return all;
  }

  /** Evaluates a packet whose last byte is the last byte of its memory. */
  private static <T> T at(byte[] bytes, LongFunction<T> what) {
    try (Arena arena = Arena.ofConfined()) {
      long at = Memory.allocate(arena, Math.max(1, bytes.length), 1);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Memory.ALL, at, bytes.length);
      return what.apply(at);
    }
  }

  private static String describe(byte[] bytes) {
    return at(bytes, at -> PgmFormat.describe(at, bytes.length));
  }

  private static String describe(String hex) {
    return describe(HexFormat.of().parseHex(hex));
  }

  private static PgmType typeOf(byte[] bytes) {
    return at(bytes, at -> PgmFormat.typeOf(at, bytes.length));
  }

  @Test
  void parsesPacketsOfOtherPrograms() {
    assertEquals("SPM of 3329041eba74.13320 number 92190 trail 21618 lead 54950", describe(SPM));
    assertEquals(
        "ODATA of 3329041eba74.13320 number 54951 trail 21618, 1436 bytes",
        describe(data(DATA_BYTES)));
    assertEquals("POLL of 83f2d6491cb3.1234 number 0", describe(POLL));
    assertEquals("POLR of 83f2d6491cb3.1234 number 0", describe(POLR));
    assertEquals("NAK of 3329041eba74.13320 number 54952", describe(NAK));
    assertEquals("NAK of 3329041eba74.13320 number 54952", describe(NAK6));
  }

  @Test
  void writtenPacketsAreParsed() {
    for (PgmType type : List.of(PgmType.ODATA, PgmType.RDATA)) {
      byte[] bytes = new byte[24 + 7];
      String text =
          at(
              bytes,
              at -> {
                PgmFormat.write(at, type, SESSION, 5563, 0xffff_fffe, 7);
                return PgmFormat.describe(at, bytes.length);
              });
      assertEquals(
          type + " of 3329041eba74.13320 number 4294967294 trail 4294967294, 7 bytes", text);
    }
  }

  @Test
  void rejectsTruncatedPackets() {
    for (String hex : List.of(SPM, POLL, POLR, NAK, NAK6)) {
      byte[] whole = HexFormat.of().parseHex(hex);
      for (int length = 0; length < whole.length; length++) {
        byte[] cut = Arrays.copyOf(whole, length);
        assertNull(typeOf(cut), hex + " cut at " + length);
      }
      assertNotNull(typeOf(whole), hex);
      /* Padding after a payload doesn't change its contents. */
      assertNotNull(typeOf(Arrays.copyOf(whole, whole.length + 3)), hex);
    }
    assertNull(typeOf(data(DATA_BYTES - 1)));
  }

  @Test
  void rejectsInvalidVersionTypeFamilyAndOptions() {
    assertNull(typeOf(HexFormat.of().parseHex(SPM.replaceFirst("bb00", "bb40"))), "version 1");
    assertNull(typeOf(HexFormat.of().parseHex(SPM.replaceFirst("bb00", "bb03"))), "no type");
    assertNull(typeOf(HexFormat.of().parseHex(SPM.replace("0001000", "0003000"))), "family 3");
    String options = "00040010820c00000000d6a90000d6ab";
    for (String wrong :
        List.of(
            "01040010820c00000000d6a90000d6ab", // the first option isn't the length
            "00050010820c00000000d6a90000d6ab", // the length option isn't of four bytes
            "00040011820c00000000d6a90000d6ab", // options longer than the packet
            "0004000f820c00000000d6a90000d6ab", // the last option is truncated
            "00040010820200000000d6a90000d6ab", // an option shorter than its header
            "00040010020800000000d6a90000d6ab", // bytes that are no option
            "00040010820b00000000d6a90000d6ab")) { // options end before their length
      assertNull(typeOf(HexFormat.of().parseHex(NAK.replace(options, wrong))), wrong);
    }
  }

  /* Every byte derives from the seed, so a failure is reproducible. */
  @Test
  void parsesCorruptAndRandomBytesSafely() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    Set<PgmType> seen = EnumSet.noneOf(PgmType.class);
    int none = 0;
    List<String> real = List.of(SPM, POLL, POLR, NAK, NAK6, DATA_FRONT.replace("059c", "0000"));
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = HexFormat.of().parseHex(real.get(random.nextInt(real.size())));
      if (i % 4 == 0) {
        random.nextBytes(bytes);
      }
      if (i % 3 == 0) {
        bytes[4] = (byte) random.nextInt(16);
      }
      for (int spoilt = random.nextInt(5); spoilt > 0; spoilt--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      byte[] cut = Arrays.copyOf(bytes, random.nextInt(bytes.length + 8));
      PgmType type = typeOf(cut);
      if (type == null) {
        none++;
      } else {
        seen.add(type);
        assertTrue(describe(cut).startsWith(type + " of "), "seed " + seed);
      }
    }
    assertTrue(seen.size() >= 8, () -> seen + " of seed " + seed);
    assertTrue(none > 1000, "seed " + seed);
  }
}
