package io.heddle.verbs;

/** Registered memory (ibv_mr). The keys are valid until close. */
public interface MemoryRegion extends AutoCloseable {
  long address();

  long lengthBytes();

  int lkey();

  int rkey();

  @Override
  void close();
}
