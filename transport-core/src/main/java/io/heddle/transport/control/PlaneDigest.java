package io.heddle.transport.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;

/**
 * Digest of a list of planes: the first {@value #BYTES} bytes of the SHA-256 of their keys in
 * order, each preceded by its length. Equal on hosts that have the same planes.
 */
public final class PlaneDigest {
  public static final int BYTES = 16;

  private PlaneDigest() {}

  public static byte[] of(List<String> keys) {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
    for (String key : keys) {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      digest.update(ByteBuffer.allocate(4).putInt(0, bytes.length));
      digest.update(bytes);
    }
    return Arrays.copyOf(digest.digest(), BYTES);
  }
}
