package io.heddle.verbs.libibverbs;

import io.heddle.verbs.MemoryRegion;
import java.util.concurrent.atomic.AtomicBoolean;

/** Memory region of a libibverbs device. */
final class NativeMemoryRegion implements MemoryRegion {
  private final NativeProtectionDomain pd;
  private final long region;
  private final long address;
  private final long lengthBytes;
  private final int lkey;
  private final int rkey;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param region address of the ibv_mr
   */
  NativeMemoryRegion(
      NativeProtectionDomain pd, long region, long address, long lengthBytes, int lkey, int rkey) {
    this.pd = pd;
    this.region = region;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.lkey = lkey;
    this.rkey = rkey;
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
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  public void close() {
    pd.port()
        .lock()
        .shared(() -> {
          if (closed.compareAndSet(false, true)) {
            pd.closed(this);
            Verb.DEREG_MR.call(
                "%s, %s bytes at 0x%x".formatted(pd.port(), lengthBytes, address), region);
          }
        });
  }
}
