package io.heddle.verbs;

/** Registered memory. The keys are valid until close. */
public interface MemoryRegion extends AutoCloseable {
  long address();

  long lengthBytes();

  int lkey();

  int rkey();

  @Override
  void close();
}
