package io.heddle.fabric.model;

import io.heddle.platform.Lookup3;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Hash of nftables' {@code jhash ip6 saddr . ip6 daddr . udp sport mod N seed S}, and of a lab's
 * switches. It is Bob Jenkins' lookup3 over the fields as nftables' registers hold them, each
 * padded to four bytes. It isn't linear.
 *
 * @param seed seed of the nftables rule
 */
public record JenkinsHash(int seed) implements SwitchHash {
  /**
   * Returns the member that the kernel selects, which scales the hash to the group: {@code hash *
   * members >> 32}.
   */
  @Override
  public int member(RoceFlow flow, EcmpGroup group) {
    ByteBuffer registers = ByteBuffer.allocate(36);
    registers.put(flow.source().getAddress()).put(flow.destination().getAddress());
    registers.putShort((short) flow.sourcePort()).putShort((short) 0);
    int hash = Lookup3.hash(Arrays.copyOf(registers.array(), registers.position()), seed);
    return (int) (Integer.toUnsignedLong(hash) * group.members() >>> 32);
  }

  @Override
  public JenkinsHash withSeed(int other) {
    return new JenkinsHash(other);
  }

  @Override
  public String text() {
    return "jenkins, seed " + Integer.toUnsignedString(seed);
  }
}
