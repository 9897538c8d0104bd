package io.heddle.softdevice.queue;

import io.heddle.verbs.MemoryRegion;

/** Registered memory of the soft device; one key serves as lkey and rkey. */
final class SoftMemoryRegion implements MemoryRegion {
  private final SoftContext context;
  private final SoftProtectionDomain pd;
  private final long address;
  private final long lengthBytes;
  private final int key;
  private boolean closed;

  SoftMemoryRegion(
      SoftContext context, SoftProtectionDomain pd, long address, long lengthBytes, int key) {
    this.context = context;
    this.pd = pd;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.key = key;
  }

  SoftProtectionDomain pd() {
    return pd;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public int lkey() {
    return key;
  }

  @Override
  public int rkey() {
    return key;
  }

  @Override
  public void close() {
    synchronized (context) {
      if (closed) {
        return;
      }
      closed = true;
      Engine engine = context.engine();
      engine.lock.lock();
      try {
        engine.regions.remove(key);
      } finally {
        engine.unlock();
      }
      context.closed(this);
    }
  }
}
