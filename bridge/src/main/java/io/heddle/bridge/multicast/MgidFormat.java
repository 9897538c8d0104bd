package io.heddle.bridge.multicast;

import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Encoding of a multicast group's IP address and port in the MGID of an InfiniBand fabric.
 *
 * <pre>
 *  0    2          4      6        10    12
 * |ff15|signature |P_Key |0        |port |address, 32 or 28 bits |   IPv4 groups
 * |ff15|signature |P_Key |address, its low 80 bits               |   IPv6 groups
 * </pre>
 *
 * <p>28 bits are the low bits of an IPv4 address, as in RFC 4391, section 4. {@link #RDMA} is RDMA
 * CM's encoding of the address: on a RoCEv2 port the address itself, with IPv4 in mapped form.
 */
public enum MgidFormat {
  RDMA("RDMA", 0x0000, false, false, false, true),
  IPV4("IPv4", 0x401b, false, false, true, false),
  IPV6("IPv6", 0x601b, false, false, true, true),
  CLLM("CLLM", 0xa01b, true, true, false, false),
  IB("IB", 0x4001, false, false, false, false);

  private static final long HEADER = 0xff15L << 48;
  private static final long LOW_28_BITS = 0x0fff_ffffL;
  private static final long CLASS_D = 0xe000_0000L;
  private static final long MAPPED = 0x0000_ffff_0000_0000L;
  private static final long LINK_LOCAL_GROUP = 0xff15L << 48;
  private static final int WHOLE_KEY = 0xffff;
  private static final long FULL_MEMBER = 0x8000;

  private final String word;
  private final int signature;
  private final boolean port;
  private final boolean wholeAddress;
  private final boolean key;
  private final boolean supportsIpv6;

  MgidFormat(
      String word,
      int signature,
      boolean port,
      boolean wholeAddress,
      boolean key,
      boolean takesIpv6) {
    this.word = word;
    this.signature = signature;
    this.port = port;
    this.wholeAddress = wholeAddress;
    this.key = key;
    this.supportsIpv6 = takesIpv6;
  }

  /** Returns the names of the formats in a configuration. */
  public static List<String> words() {
    return Stream.of(values()).map(MgidFormat::word).toList();
  }

  /**
   * Returns the format with this name, in upper or lower case.
   *
   * @throws IllegalArgumentException for another word
   */
  public static MgidFormat named(String word) {
    for (MgidFormat each : values()) {
      if (each.word.toLowerCase(Locale.ROOT).equals(word.toLowerCase(Locale.ROOT))) {
        return each;
      }
    }
    throw new IllegalArgumentException(word + " is no MGID format");
  }

  public String word() {
    return word;
  }

  /** Returns whether a group of this family has an MGID in this format. */
  public boolean supports(Gid group) {
    return group.isIpv4Mapped() ? this != IPV6 : supportsIpv6;
  }

  /**
   * Returns the MGID of a group with the default partition key.
   *
   * @param group multicast address, IPv4 in mapped form
   * @param portNumber port number of the group, 0 if it has none
   */
  public Gid encode(Gid group, int portNumber) {
    return encode(group, portNumber, WHOLE_KEY);
  }

  /**
   * Returns the MGID of a group in the partition with this key.
   *
   * @param partitionKey 16 bits; the MGID contains the key of a full member in any case
   */
  public Gid encode(Gid group, int portNumber, int partitionKey) {
    if (!supports(group)) {
      throw new IllegalArgumentException(word + " has no MGID for " + group);
    }
    if (this == RDMA) {
      return group;
    }
    long high = HEADER | (long) signature << 32 | (key ? (partitionKey | FULL_MEMBER) << 16 : 0);
    if (this == IPV6) {
      return new Gid(high | group.high() & 0xffff, group.low());
    }
    long address = group.low() & (wholeAddress ? 0xffff_ffffL : LOW_28_BITS);
    return new Gid(high, (port ? (long) portNumber << 32 : 0) | address);
  }

  /**
   * Returns the multicast address that an MGID encodes, IPv4 in mapped form. It restores the bits
   * that the format omits: the four leading bits of an IPv4 group, and the first bytes of an IPv6
   * group as {@code ff15::}.
   *
   * @throws IllegalArgumentException for an MGID of another format
   */
  public Gid decode(Gid mgid) {
    if (this == RDMA) {
      if (!isMulticast(mgid)) {
        throw new IllegalArgumentException(mgid + " is no multicast address");
      }
      return mgid;
    }
    if (mgid.high() >>> 56 != 0xff || (mgid.high() >>> 32 & 0xffff) != signature) {
      throw new IllegalArgumentException(mgid + " isn't an MGID of the format " + word);
    }
    if (this == IPV6) {
      return new Gid(LINK_LOCAL_GROUP | mgid.high() & 0xffff, mgid.low());
    }
    return new Gid(0, MAPPED | CLASS_D | mgid.low() & 0xffff_ffffL);
  }

  /** Returns the port in an MGID, 0 if the format has none. */
  public int portOf(Gid mgid) {
    return port ? (int) (mgid.low() >>> 32) & 0xffff : 0;
  }

  /** Returns whether this is a multicast address: IPv4 in mapped form, or IPv6. */
  public static boolean isMulticast(Gid address) {
    return address.isIpv4Mapped()
        ? (address.low() >>> 28 & 15) == 14
        : address.high() >>> 56 == 0xff;
  }
}
