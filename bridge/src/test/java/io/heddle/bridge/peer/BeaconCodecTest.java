package io.heddle.bridge.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Codec of beacons: beacons of this version, of other versions, changed and invalid ones. */
class BeaconCodecTest {
  private static final BeaconKey KEY = key("0123456789abcdef");
  private static final long SEED = 20_261_126;

  /* Bytes that Python's struct and hmac have produced. */
  private static final String GOLDEN =
      "48425242010201270000000700640001010203040506070800000000000000090000006400000003"
          + "a1a2a3a4a5a6a7a8b1b2b3b4b5b6b7b80101010000000000000000000000ffff0a0100fe"
          + "00000008111213141516171800000005"
          + "00000000000000000000ffffef010101000000070000000000000002"
          + "0ffbd2d4e5fce8e24742ea4761e953ac927f28cc648601143025876696901519";

  private static final Beacon BEACON =
      new Beacon(
          new Beacon.Origin(7, 0x0102030405060708L, 9, 1, 100, 0xb1b2b3b4b5b6b7b8L),
          new Beacon.Standing(BridgeState.ACTIVE, 100, 1, 3, false, false),
          new Beacon.Agreement(
              3, 0xa1a2a3a4a5a6a7a8L, true, List.of(new Beacon.Heard(8, 0x1112131415161718L, 5))),
          List.of(new Gid(0, 0xffff_0a01_00feL)),
          List.of(new Beacon.Pin(Bridges.group(0x101), 7, 2)));

  private static BeaconKey key(String text) {
    return new BeaconKey(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static BeaconFault faultOf(byte[] bytes, BeaconKey key) {
    return ((DecodedBeacon.Rejected) BeaconCodec.decode(bytes, bytes.length, key)).fault();
  }

  @Test
  void encodesGoldenBytes() {
    assertEquals(GOLDEN, HexFormat.of().formatHex(BeaconCodec.encode(BEACON, KEY)));
    byte[] bytes = HexFormat.of().parseHex(GOLDEN);
    assertEquals(new DecodedBeacon.Valid(BEACON), BeaconCodec.decode(bytes, bytes.length, KEY));
  }

  @Test
  void encodedBeaconDecodesToItself() {
    Random random = new Random(SEED);
    for (int i = 0; i < 2000; i++) {
      Beacon beacon = any(random);
      BeaconKey key = random.nextBoolean() ? KEY : null;
      byte[] bytes = BeaconCodec.encode(beacon, key);
      assertTrue(bytes.length <= BeaconCodec.MOST_BYTES);
      assertEquals(new DecodedBeacon.Valid(beacon), BeaconCodec.decode(bytes, bytes.length, key));
    }
  }

  private static Beacon any(Random random) {
    List<Gid> addresses = new ArrayList<>();
    for (int i = random.nextInt(Beacon.MOST_ADDRESSES + 1); i > 0; i--) {
      addresses.add(new Gid(random.nextLong(), random.nextLong()));
    }
    List<Beacon.Heard> heard = new ArrayList<>();
    for (int i = random.nextInt(Beacon.MOST_PEERS + 1); i > 0; i--) {
      heard.add(new Beacon.Heard(random.nextInt(), random.nextLong(), random.nextInt()));
    }
    List<Beacon.Pin> pins = new ArrayList<>();
    for (int i = random.nextInt(Beacon.MOST_PINS + 1); i > 0; i--) {
      Gid group = new Gid(random.nextLong(), random.nextLong());
      pins.add(new Beacon.Pin(group, random.nextInt(), random.nextLong()));
    }
    return new Beacon(
        new Beacon.Origin(
            1 + random.nextInt(1000),
            random.nextLong(),
            random.nextLong(),
            random.nextInt(2),
            1 + random.nextInt(60_000),
            random.nextLong()),
        new Beacon.Standing(
            BridgeState.values()[random.nextInt(4)],
            random.nextInt(65_536),
            1 + random.nextInt(65_535),
            random.nextInt(4),
            random.nextBoolean(),
            random.nextBoolean()),
        new Beacon.Agreement(
            random.nextInt(), random.nextLong(), random.nextBoolean(), List.copyOf(heard)),
        List.copyOf(addresses),
        List.copyOf(pins));
  }

  @Test
  void rejectsEveryChangedByteOfSignedBeacon() {
    byte[] right = BeaconCodec.encode(BEACON, KEY);
    for (int i = 0; i < right.length; i++) {
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        byte[] wrong = right.clone();
        wrong[i] ^= (byte) (1 << bit);
        faultOf(wrong, KEY);
      }
    }
    assertEquals(BeaconFault.WRONG_SIGNATURE, faultOf(right, key("fedcba9876543210")));
  }

  @Test
  void keyRequiresSignatureAndNoKeyRejectsIt() {
    assertEquals(BeaconFault.UNSIGNED, faultOf(BeaconCodec.encode(BEACON, null), KEY));
    assertEquals(BeaconFault.NO_KEY, faultOf(BeaconCodec.encode(BEACON, KEY), null));
    assertThrows(IllegalArgumentException.class, () -> key("0123456789abcde"));
  }

  @Test
  void rejectsTruncatedAndExtendedBeacons() {
    byte[] right = BeaconCodec.encode(BEACON, null);
    for (int length = 0; length < right.length; length++) {
      assertEquals(BeaconFault.MALFORMED, faultOf(Arrays.copyOf(right, length), null));
    }
    assertEquals(BeaconFault.MALFORMED, faultOf(Arrays.copyOf(right, right.length + 1), null));
    right[4] = 2;
    assertEquals(BeaconFault.OTHER_VERSION, faultOf(right, null));
  }

  @Test
  void randomBytesAreBeaconOrFault() {
    Random random = new Random(SEED);
    Set<BeaconFault> seen = EnumSet.noneOf(BeaconFault.class);
    int right = 0;
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = BeaconCodec.encode(BEACON, random.nextInt(4) == 0 ? KEY : null);
      for (int changes = random.nextInt(4); changes > 0; changes--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      int length = random.nextInt(8) == 0 ? random.nextInt(bytes.length + 1) : bytes.length;
      switch (BeaconCodec.decode(bytes, length, null)) {
        case DecodedBeacon.Valid read -> {
          right++;
          byte[] again = BeaconCodec.encode(read.beacon(), null);
          assertArrayEquals(Arrays.copyOf(bytes, length), again);
        }
        case DecodedBeacon.Rejected wrong -> seen.add(wrong.fault());
      }
    }
    assertTrue(right > 1000, "valid beacons: " + right);
    assertEquals(
        EnumSet.of(BeaconFault.MALFORMED, BeaconFault.OTHER_VERSION, BeaconFault.NO_KEY), seen);
  }
}
