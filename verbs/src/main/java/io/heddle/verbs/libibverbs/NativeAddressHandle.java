package io.heddle.verbs.libibverbs;

import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.Gid;
import java.util.concurrent.atomic.AtomicBoolean;

/** Address handle of a libibverbs device. */
final class NativeAddressHandle implements AddressHandle {
  private final NativeProtectionDomain pd;
  private final Gid remoteGid;
  private final long address;
  private final AtomicBoolean closed = new AtomicBoolean();

  NativeAddressHandle(NativeProtectionDomain pd, Gid remoteGid, long address) {
    this.pd = pd;
    this.remoteGid = remoteGid;
    this.address = address;
  }

  @Override
  public Gid remoteGid() {
    return remoteGid;
  }

  /** Returns the address of the ibv_ah, or 0 after the close. Called by the posting thread. */
  long address() {
    return closed.get() ? 0 : address;
  }

  @Override
  public void close() {
    pd.port()
        .lock()
        .shared(() -> {
          if (closed.compareAndSet(false, true)) {
            pd.closed(this);
            Verb.DESTROY_AH.call(
                "%s, address handle of %s".formatted(pd.port(), remoteGid), address);
          }
        });
  }
}
