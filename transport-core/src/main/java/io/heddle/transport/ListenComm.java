package io.heddle.transport;

/** A listener; one may serve several accepts. */
public interface ListenComm extends AutoCloseable {
  @Override
  void close();
}
