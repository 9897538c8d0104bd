package io.heddle.fabric.model;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/**
 * Hash of merchant switch silicon, as far as its load sharing is published. It has four steps. The
 * fields of a packet are hashed by four algorithms. These hashes and numbers of the switch form the
 * {@link HashKey}. The selected parts of the key are hashed. This hash is rotated, and the group's
 * formula ({@link EcmpGroup#offset}) selects a member by it.
 *
 * @param fields fields in the order in which they are hashed
 * @param a0 algorithm of hash A0; the next three parameters are those of A1, B0 and B1
 * @param keyAlgorithm algorithm of the key's hash
 * @param selected parts of the key that are hashed
 * @param seed seed of the four hashes
 * @param shift number of bits by which the key's hash is rotated right, 0 to 15
 * @param lbn load balance number of the ingress port
 * @param port destination port inside the switch
 * @param lbid load balance identifier
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
  /** Parts of the key that ECMP selects (H3C's white paper): only hash B1. */
  public static final Set<HashKey.Part> ECMP = Set.of(HashKey.Part.B1);

  /** Parts of the key that link aggregation selects: only hash A1. */
  public static final Set<HashKey.Part> LINK_AGGREGATION = Set.of(HashKey.Part.A1);

  public HashModel {
    fields = List.copyOf(fields);
    selected = Set.copyOf(selected);
    if (shift < 0 || shift > 15) {
      throw new IllegalArgumentException("shift " + shift + " isn't 0 to 15");
    }
  }

  /** Returns the model of ECMP by hash B1 over the five-tuple. */
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

  /** Returns the key of a flow, before parts are selected. */
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

  /**
   * Returns the 16-bit hash of a flow's key, rotated. The group's formula selects a member by this
   * hash.
   */
  public int hash(RoceFlow flow) {
    int hash = key(flow).select(selected).hash(keyAlgorithm);
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
