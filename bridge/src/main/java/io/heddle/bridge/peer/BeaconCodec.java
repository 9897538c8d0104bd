package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Codec of beacons, in Heddle's own format. All fields are big endian.
 *
 * <pre>
 *  0       1       2       3
 * |magic, "HBRB"                  |
 * |version|state  |side   |flags  |   1, 2: fabric a, b is up; 4 settled; 8 reserve; 16 leaving; 32 signed
 * |bridge id                      |
 * |priority       |weight         |
 * |incarnation, 8 bytes           |
 * |sequence number, 8 bytes       |
 * |interval in ms                 |
 * |change                         |
 * |digest of the view, 8 bytes    |
 * |digest of the configuration, 8 |
 * |addrs  |heard  |pins   |0      |   how many follow of each kind
 * |addresses, 16 bytes each; id, incarnation, change, 16 each; group, owner, version, 28 each
 * |HMAC-SHA256 of all fields above, 32 bytes, if the beacon is signed
 * </pre>
 */
public final class BeaconCodec {
  /** Maximum bytes of a beacon. */
  public static final int MOST_BYTES = 1232;

  static final int HEADER_BYTES = 60;

  private static final int MAGIC = 0x4842_5242;
  private static final int VERSION = 1;
  private static final int FABRICS = 3;
  private static final int SETTLED = 4;
  private static final int RESERVE = 8;
  private static final int LEAVING = 16;
  private static final int SIGNED = 32;
  private static final int FLAGS = 63;
  private static final int FLAGS_AT = 7;
  private static final int HEARD_BYTES = 16;
  private static final int PIN_BYTES = 28;
  private static final int MOST_INTERVAL_MS = 60_000;

  private BeaconCodec() {}

  /**
   * Encodes a beacon.
   *
   * @param key key that signs the beacon; null for no signature
   */
  public static byte[] encode(Beacon beacon, @Nullable BeaconKey key) {
    ByteBuffer to = ByteBuffer.allocate(MOST_BYTES);
    Beacon.Origin origin = beacon.origin();
    Beacon.Standing standing = beacon.standing();
    Beacon.Agreement agreement = beacon.agreement();
    int flags =
        standing.fabricsUp()
            | (agreement.settled() ? SETTLED : 0)
            | (standing.reserve() ? RESERVE : 0)
            | (standing.leaving() ? LEAVING : 0)
            | (key != null ? SIGNED : 0);
    to.putInt(MAGIC)
        .put((byte) VERSION)
        .put((byte) standing.state().ordinal())
        .put((byte) origin.side())
        .put((byte) flags)
        .putInt(origin.id())
        .putShort((short) standing.priority())
        .putShort((short) standing.weight())
        .putLong(origin.incarnation())
        .putLong(origin.sequence())
        .putInt(origin.intervalMs())
        .putInt(agreement.change())
        .putLong(agreement.view())
        .putLong(origin.configDigest())
        .put((byte) beacon.addresses().size())
        .put((byte) agreement.heard().size())
        .put((byte) beacon.pins().size())
        .put((byte) 0);
    beacon.addresses().forEach(each -> put(to, each));
    for (Beacon.Heard each : agreement.heard()) {
      to.putInt(each.id()).putLong(each.incarnation()).putInt(each.change());
    }
    for (Beacon.Pin each : beacon.pins()) {
      put(to, each.group());
      to.putInt(each.owner()).putLong(each.version());
    }
    if (key != null) {
      to.put(key.sign(to.array(), to.position()));
    }
    return Arrays.copyOf(to.array(), to.position());
  }

  private static void put(ByteBuffer to, Gid address) {
    to.putLong(address.high()).putLong(address.low());
  }

  /**
   * Decodes a beacon.
   *
   * @param length number of received bytes
   * @param key key that must have signed the beacon; null if no beacon is signed
   */
  public static DecodedBeacon decode(byte[] bytes, int length, @Nullable BeaconKey key) {
    if (length < HEADER_BYTES || length > bytes.length) {
      return new DecodedBeacon.Rejected(BeaconFault.MALFORMED);
    }
    ByteBuffer from = ByteBuffer.wrap(bytes, 0, length);
    if (from.getInt() != MAGIC) {
      return new DecodedBeacon.Rejected(BeaconFault.MALFORMED);
    }
    if (from.get() != VERSION) {
      return new DecodedBeacon.Rejected(BeaconFault.OTHER_VERSION);
    }
    boolean signed = (bytes[FLAGS_AT] & SIGNED) != 0;
    int signature = signed ? BeaconKey.SIGNATURE_BYTES : 0;
    BeaconFault fault = key == null ? (signed ? BeaconFault.NO_KEY : null) : unsigned(signed);
    if (fault == null && length - signature != expectedBytes(bytes)) {
      fault = BeaconFault.MALFORMED;
    }
    if (fault == null && key != null && !key.hasSigned(bytes, length - signature)) {
      fault = BeaconFault.WRONG_SIGNATURE;
    }
    Beacon beacon = fault == null ? read(from) : null;
    if (beacon != null) {
      return new DecodedBeacon.Valid(beacon);
    }
    return new DecodedBeacon.Rejected(fault == null ? BeaconFault.MALFORMED : fault);
  }

  private static @Nullable BeaconFault unsigned(boolean signed) {
    return signed ? null : BeaconFault.UNSIGNED;
  }

  /* Returns the length without the signature, from the counts in the header. */
  private static int expectedBytes(byte[] bytes) {
    int counts = HEADER_BYTES - 4;
    return HEADER_BYTES
        + (bytes[counts] & 0xff) * Gid.BYTES
        + (bytes[counts + 1] & 0xff) * HEARD_BYTES
        + (bytes[counts + 2] & 0xff) * PIN_BYTES;
  }

  /* Reads the fields after magic and version; null if a value is out of range. */
  private static @Nullable Beacon read(ByteBuffer from) {
    int state = from.get() & 0xff;
    int side = from.get() & 0xff;
    int flags = from.get() & 0xff;
    int id = from.getInt();
    int priority = from.getShort() & 0xffff;
    int weight = from.getShort() & 0xffff;
    long incarnation = from.getLong();
    long sequence = from.getLong();
    int intervalMs = from.getInt();
    int change = from.getInt();
    long view = from.getLong();
    long config = from.getLong();
    int addresses = from.get() & 0xff;
    int heard = from.get() & 0xff;
    int pins = from.get() & 0xff;
    if (from.get() != 0
        || state >= BridgeState.values().length
        || side > 1
        || (flags & ~FLAGS) != 0
        || id <= 0
        || weight == 0
        || intervalMs <= 0
        || intervalMs > MOST_INTERVAL_MS
        || addresses > Beacon.MOST_ADDRESSES
        || heard > Beacon.MOST_PEERS
        || pins > Beacon.MOST_PINS) {
      return null;
    }
    List<Gid> own = new ArrayList<>();
    for (int i = 0; i < addresses; i++) {
      own.add(address(from));
    }
    List<Beacon.Heard> others = new ArrayList<>();
    for (int i = 0; i < heard; i++) {
      others.add(new Beacon.Heard(from.getInt(), from.getLong(), from.getInt()));
    }
    List<Beacon.Pin> orders = new ArrayList<>();
    for (int i = 0; i < pins; i++) {
      orders.add(new Beacon.Pin(address(from), from.getInt(), from.getLong()));
    }
    boolean settled = (flags & SETTLED) != 0;
    return new Beacon(
        new Beacon.Origin(id, incarnation, sequence, side, intervalMs, config),
        new Beacon.Standing(
            BridgeState.values()[state],
            priority,
            weight,
            flags & FABRICS,
            (flags & RESERVE) != 0,
            (flags & LEAVING) != 0),
        new Beacon.Agreement(change, view, settled, List.copyOf(others)),
        List.copyOf(own),
        List.copyOf(orders));
  }

  private static Gid address(ByteBuffer from) {
    return new Gid(from.getLong(), from.getLong());
  }
}
