package io.heddle.bridge.cm;

import io.heddle.verbs.Gid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Service ID resolution (SIDR) in a fabric whose queue pair 1 belongs to the kernel: it requests
 * queue pair numbers from hosts by RDMA CM's datagram service, and receives requests from hosts. No
 * call waits. The path to a host is ready before a message from it is delivered.
 */
public interface SidrService extends AutoCloseable {
  /** Maximum private data of a request or an answer. */
  int MOST_BYTES = 180;

  /** Received message. */
  sealed interface Message permits Answer, IncomingSidrRequest {}

  /**
   * Answer of a host.
   *
   * @param token token of the request
   * @param status 0, or the status of a SIDR reply that contains no number
   * @param number number of the queue pair
   * @param key queue key of the queue pair
   * @param privateData private data in the answer
   */
  record Answer(int token, int status, int number, int key, List<Byte> privateData)
      implements Message {}

  /**
   * Request of a host.
   *
   * @param id identifies the request in {@link #accept} and {@link #refuse}
   * @param address the bridge's address that the request was sent to
   * @param port port of the requested service
   * @param client address of the requesting host
   * @param clientPort port of the requesting host
   * @param privateData private data in the request
   */
  record IncomingSidrRequest(
      long id, Gid address, int port, Gid client, int clientPort, List<Byte> privateData)
      implements Message {}

  /** Returns the name of the implementation, for people. */
  String describe();

  /**
   * Sends a request to a host. The {@link Answer} contains the same token.
   *
   * @param source the bridge's address that the request is sent from
   */
  void request(int token, Gid source, Gid server, int port, List<Byte> privateData);

  /** Prepares the path from one of the bridge's addresses to a host. */
  void prepare(Gid source, Gid destination);

  /** Accepts requests to these addresses and ports from now on, and to no others. */
  void serve(List<Gid> addresses, List<Integer> ports);

  /** Answers a request with the number of one of the bridge's queue pairs. */
  void accept(long request, int number, List<Byte> privateData);

  /** Rejects a request: no queue pair is available for the requested service. */
  void refuse(long request);

  /** Returns the next received message; null for none. Called by one thread only. */
  @Nullable Message take();

  /** Returns the fault in words; empty for none. */
  String check();

  @Override
  void close();
}
