package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Test of the member that a hash selects in a group. */
final class EcmpGroupTest {
  private static RoceFlow flow(int port) throws Exception {
    return new RoceFlow(
        InetAddress.getByName("fd00::1"), InetAddress.getByName("fd00::2"), port, 0);
  }

  @Test
  void everyMemberAndNoOtherIsSelected() {
    for (int members = 1; members <= EcmpGroup.MOST; members++) {
      boolean[] met = new boolean[members];
      EcmpGroup group = new EcmpGroup(members);
      for (int hash = 0; hash < 0x10000; hash++) {
        met[group.offset(hash)] = true;
      }
      for (boolean each : met) {
        assertTrue(each, "not each of " + members + " members is ever selected");
      }
    }
    assertEquals(3, new EcmpGroup(4).offset(0xabcd0003), "only 16 bits are used");
    assertThrows(IllegalArgumentException.class, () -> new EcmpGroup(0));
    assertThrows(IllegalArgumentException.class, () -> new EcmpGroup(1025));
  }

  @Test
  void shiftSelectsOtherBits() throws Exception {
    HashModel plain = HashModel.ecmp(HashAlgorithm.CRC16, 0);
    HashModel shifted =
        new HashModel(
            plain.fields(),
            plain.a0(),
            plain.a1(),
            plain.b0(),
            plain.b1(),
            plain.keyAlgorithm(),
            plain.selected(),
            0,
            4,
            0,
            0,
            0);
    int hash = plain.hash(flow(50_000));
    assertEquals((hash >>> 4 | hash << 12) & 0xffff, shifted.hash(flow(50_000)));
    assertEquals(hash & 3, plain.member(flow(50_000), new EcmpGroup(4)));
  }

  @Test
  void hashTakesTheFieldsInNetworkOrder() throws Exception {
    byte[] bytes = new byte[38];
    bytes[0] = (byte) 0xfd;
    bytes[15] = 1;
    bytes[16] = (byte) 0xfd;
    bytes[31] = 2;
    bytes[33] = 17;
    bytes[34] = (byte) (50_000 >> 8);
    bytes[35] = (byte) 50_000;
    bytes[36] = (byte) (4791 >> 8);
    bytes[37] = (byte) 4791;
    assertEquals(
        HashAlgorithm.CRC32LSB.of(bytes, 38, 0),
        HashModel.ecmp(HashAlgorithm.CRC32LSB, 0).hash(flow(50_000)));
  }

  @Test
  void kernelHashesSpreadOverEveryMember() throws Exception {
    for (SwitchHash hash : new SwitchHash[] {new LinuxHash(1), new JenkinsHash(1)}) {
      int[] flows = new int[5];
      for (int port = 40_000; port < 50_000; port++) {
        flows[hash.member(flow(port), new EcmpGroup(5))]++;
      }
      for (int each : flows) {
        /*
         * 200 is five standard deviations, which random selection exceeds once in a million cases.
         */
        assertEquals(2000, each, 200, hash.text() + Arrays.toString(flows));
      }
    }
    assertThrows(IllegalArgumentException.class, () -> new LinuxHash(0));
  }
}
