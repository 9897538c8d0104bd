package io.heddle.spray;

/**
 * Division of a message into chunks of one size: the device's preferred one, or a multiple of it if
 * 64 chunks would not suffice.
 */
final class UniformChunks {
  private UniformChunks() {}

  static int count(long lengthBytes, int preferredBytes) {
    if (lengthBytes <= preferredBytes) {
      return 1;
    }
    long size = sizeBytes(lengthBytes, preferredBytes);
    return (int) ((lengthBytes + size - 1) / size);
  }

  static long start(long lengthBytes, int chunk, int preferredBytes) {
    return Math.min(lengthBytes, chunk * sizeBytes(lengthBytes, preferredBytes));
  }

  private static long sizeBytes(long lengthBytes, int preferredBytes) {
    long wanted = (lengthBytes + SprayPolicy.MAX_CHUNKS - 1) / SprayPolicy.MAX_CHUNKS;
    return wanted <= preferredBytes
        ? preferredBytes
        : (wanted + preferredBytes - 1) / preferredBytes * preferredBytes;
  }
}
