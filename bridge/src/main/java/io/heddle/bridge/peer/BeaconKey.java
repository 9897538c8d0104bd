package io.heddle.bridge.peer;

import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Key shared by all bridges, and signatures with it: HMAC-SHA256, RFC 2104. */
public final class BeaconKey {
  /** Length of a signature. */
  static final int SIGNATURE_BYTES = 32;

  /** Minimum length of a key: a shorter one can be guessed. */
  public static final int LEAST_BYTES = 16;

  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  /**
   * Creates a key from its bytes.
   *
   * @throws IllegalArgumentException for less than {@value #LEAST_BYTES} bytes
   */
  public BeaconKey(byte[] bytes) {
    if (bytes.length < LEAST_BYTES) {
      throw new IllegalArgumentException("a key has at least " + LEAST_BYTES + " bytes");
    }
    key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /** Returns the signature of the first {@code length} bytes of an array. */
  byte[] sign(byte[] bytes, int length) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(bytes, 0, length);
      return mac.doFinal();
    } catch (NoSuchAlgorithmException | InvalidKeyException missing) {
      throw new IllegalStateException("every Java has " + ALGORITHM, missing);
    }
  }

  /** Returns whether the first {@code length} bytes are followed by their signature. */
  boolean hasSigned(byte[] bytes, int length) {
    byte[] signature = Arrays.copyOfRange(bytes, length, length + SIGNATURE_BYTES);
    return MessageDigest.isEqual(sign(bytes, length), signature);
  }
}
