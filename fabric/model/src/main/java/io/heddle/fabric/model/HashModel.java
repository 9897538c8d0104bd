package io.heddle.fabric.model;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/**
 * The load sharing of merchant switch silicon, as far as it is public: fields go into four hashes,
 * these with numbers of the switch into the {@link HashKey}, the key's selected parts into a hash,
 * and that, shifted, into the group's formula.
 *
 * @param fields in the order in which they are hashed
 * @param a0 algorithm of hash A0; in the same way the other three
 * @param keyAlgorithm of the hash of the key
 * @param selected the parts of the key that count
 * @param seed of the four hashes
 * @param shift by how many bits the key's hash is rotated to the right, 0 to 15
 * @param lbn of the ingress port
 * @param port the destination port inside the switch
 * @param lbid the load balance identifier
 */
public record HashModel(
    List<HashField> fields,
    HashAlgorithm a0,
    HashAlgorithm a1,
    HashAlgorithm b0,
    HashAlgorithm b1,
    HashAlgorithm keyAlgorithm,
    Set<HashKey.Part> selected,
    int seed,
    int shift,
    int lbn,
    int port,
    int lbid)
    implements SwitchHash {
  /** What ECMP selects (H3C's white paper): only hash B1. */
  public static final Set<HashKey.Part> ECMP = Set.of(HashKey.Part.B1);

  /** What link aggregation selects: only hash A1. */
  public static final Set<HashKey.Part> LINK_AGGREGATION = Set.of(HashKey.Part.A1);

  public HashModel {
    fields = List.copyOf(fields);
    selected = Set.copyOf(selected);
    if (shift < 0 || shift > 15) {
      throw new IllegalArgumentException("shift " + shift + " isn't 0 to 15");
    }
  }

  /** ECMP by hash B1 of the five-tuple alone. */
  public static HashModel ecmp(HashAlgorithm algorithm, int seed) {
    return new HashModel(
        HashField.FIVE_TUPLE,
        algorithm,
        algorithm,
        algorithm,
        algorithm,
        HashAlgorithm.XOR16,
        ECMP,
        seed,
        0,
        0,
        0,
        0);
  }

  /** The whole key of a flow, before anything is selected. */
  public HashKey key(RoceFlow flow) {
    ByteBuffer bins = ByteBuffer.allocate(HashField.MOST_BYTES);
    for (HashField field : fields) {
      field.append(flow, bins);
    }
    byte[] bytes = bins.array();
    int length = bins.position();
    return new HashKey(
        a0.of(bytes, length, seed),
        a1.of(bytes, length, seed),
        b0.of(bytes, length, seed),
        b1.of(bytes, length, seed),
        lbn,
        port,
        lbid);
  }

  /** The 16 bits that the group's formula takes. */
  public int hash(RoceFlow flow) {
    int hash = key(flow).only(selected).hash(keyAlgorithm);
    return (hash >>> shift | hash << 16 - shift) & 0xffff;
  }

  @Override
  public int member(RoceFlow flow, EcmpGroup group) {
    return group.offset(hash(flow));
  }

  @Override
  public HashModel withSeed(int other) {
    return new HashModel(
        fields, a0, a1, b0, b1, keyAlgorithm, selected, other, shift, lbn, port, lbid);
  }

  @Override
  public String text() {
    String of = selected.equals(LINK_AGGREGATION) ? a1.word() : b1.word();
    return of + ", seed " + seed;
  }
}
