package io.heddle.transport;

/**
 * The sending end of a connection.
 *
 * <p>NCCL's progress thread calls isend and progress, its service thread the others, at the same time.
 */
public interface SendComm extends AutoCloseable {
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
   * @return the address of a {@code struct heddle_request}, 0 where it would block and nothing was consumed, or a
   *     negated ncclResult_t
   */
  long isend(long dataAddress, long lengthBytes, int tag, long memoryHandle);

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
