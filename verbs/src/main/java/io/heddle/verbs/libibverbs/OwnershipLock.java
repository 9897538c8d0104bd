package io.heddle.verbs.libibverbs;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Lock of a device context. Creation, use and close of a single object on the control path hold it
 * shared. Close of an object that owns others holds it exclusively, so that no child is created or
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

  void exclusive(Runnable action) {
    lock.writeLock().lock();
    try {
      action.run();
    } finally {
      lock.writeLock().unlock();
    }
  }
}
