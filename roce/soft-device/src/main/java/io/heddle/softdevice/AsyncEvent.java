package io.heddle.softdevice;

import io.heddle.verbs.AsyncEventListener;
import java.util.Queue;
import org.jctools.queues.atomic.unpadded.SpscAtomicUnpaddedArrayQueue;

/** An asynchronous event on its way from the lock holder to the control thread. */
record AsyncEvent(AsyncEventListener.Kind kind, int queuePairNumber) {
  /** Made before it is needed. */
  static final AsyncEvent DEVICE_FATAL = new AsyncEvent(AsyncEventListener.Kind.DEVICE_FATAL, 0);

  private static final int MOST_UNREAD = 1024;

  /** One producer, whoever holds the progress lock, and one consumer at a time. */
  static Queue<AsyncEvent> queue() {
    return new SpscAtomicUnpaddedArrayQueue<>(MOST_UNREAD);
  }
}
