package io.heddle.transport.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Identifier of this process's network namespace, made of the kernel's boot id and the namespace's
 * inode. Ends with the same identifier are on one host and have the same addresses.
 */
public final class NamespaceId {
  /** The identifier; 0 where the kernel doesn't provide it. */
  public static final long ID =
      id(Path.of("/proc/sys/kernel/random/boot_id"), Path.of("/proc/self/ns/net"));

  private NamespaceId() {}

  /** Returns whether both identifiers can be of one host; an unknown identifier matches any. */
  public static boolean isOneHost(long id, long other) {
    return id == other || id == 0 || other == 0;
  }

  static long id(Path boot, Path namespace) {
    try {
      String text = Files.readString(boot).strip() + " " + Files.readSymbolicLink(namespace);
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(digest).getLong();
    } catch (IOException unknown) {
      return 0;
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
  }
}
