package io.heddle.spray;

/**
 * Cutting a message into chunks of one size: the device's preferred one, or a multiple where 64
 * would not do.
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
