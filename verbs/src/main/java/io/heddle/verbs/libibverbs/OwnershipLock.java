package io.heddle.verbs.libibverbs;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * One per device context. Whoever creates, uses or closes a single object on the control path
 * shares it; whoever closes an object that owns others has it alone, so that no child is born or
 * used meanwhile.
 */
final class OwnershipLock {
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  <T> T shared(Supplier<T> action) {
    lock.readLock().lock();
    try {
      return action.get();
    } finally {
      lock.readLock().unlock();
    }
  }

  void shared(Runnable action) {
    lock.readLock().lock();
    try {
      action.run();
    } finally {
      lock.readLock().unlock();
    }
  }

  void alone(Runnable action) {
    lock.writeLock().lock();
    try {
      action.run();
    } finally {
      lock.writeLock().unlock();
    }
  }
}
