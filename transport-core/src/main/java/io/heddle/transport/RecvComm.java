package io.heddle.transport;

/** The receiving end of a connection; threads as for {@link SendComm}. */
public interface RecvComm extends AutoCloseable {
  /** Address of the communicator's {@code struct heddle_comm} (native/src/java_calls.h). */
  long address();

  /**
   * Registers memory; {@code type} is 1 for host memory.
   *
   * @return a handle, never 0, or a negated ncclResult_t
   */
  long registerMemory(long dataAddress, long lengthBytes, int type);

  /**
   * @return an ncclResult_t
   */
  int deregisterMemory(long memoryHandle);

  /**
   * Receives into {@code n} buffers (1 to 8) as one group. The arguments are addresses of C arrays: {@code void *},
   * {@code size_t}, {@code int}, {@code void *} (memory handles).
   *
   * @return the address of a {@code struct heddle_request}, 0 where it would block and nothing was consumed, or a
   *     negated ncclResult_t
   */
  long irecv(int n, long dataArray, long sizesArray, long tagsArray, long memoryHandlesArray);

  /**
   * Makes received data visible to the GPU. Arrays as for {@link #irecv}, but sizes are {@code int}.
   *
   * @return as for {@link #irecv}; 0 also where there is nothing to do
   */
  long iflush(int n, long dataArray, long sizesArray, long memoryHandlesArray);

  /**
   * Moves the device and all requests of this communicator on; never blocks.
   *
   * @return an ncclResult_t
   */
  int progress();

  /** May come with requests in flight. */
  @Override
  void close();
}
