package io.heddle.transport.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A number for the network namespace of this process: ends with the same one have the same
 * addresses, since they are on one host. Made of the kernel's boot and the namespace's inode.
 */
public final class NamespaceId {
  /** The number; 0 where the kernel doesn't say. */
  public static final long ID =
      id(Path.of("/proc/sys/kernel/random/boot_id"), Path.of("/proc/self/ns/net"));

  private NamespaceId() {}

  /** Whether these can be one host: where one isn't known nothing speaks against it. */
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
