package io.heddle.bridge.config;

import io.heddle.bridge.multicast.GroupSettings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digest of the settings that must be equal on all bridges: the groups and their settings. */
public final class ConfigDigest {
  private ConfigDigest() {}

  /**
   * Returns the digest of the groups and their settings. The order of the groups doesn't matter.
   */
  public static long of(BridgeConfig config) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      config.groups().stream()
          .map(ConfigDigest::text)
          .sorted()
          .forEach(each -> sha.update(each.getBytes(StandardCharsets.UTF_8)));
      return ByteBuffer.wrap(sha.digest()).getLong();
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java has SHA-256", missing);
    }
  }

  private static String text(GroupSettings group) {
    return group.name() + " " + group.describe() + "\n";
  }
}
