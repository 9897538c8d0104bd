package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks the hosts of a fabric for the numbers of their queue pairs, and hears their own questions:
 * the datagram service of RDMA CM, where queue pair 1 is the kernel's. Nothing here waits. Before
 * something is heard, the way to its host is ready.
 */
public interface NumberService extends AutoCloseable {
  /** The most private data that goes with a question or an answer. */
  int MOST_BYTES = 180;

  /** What has come. */
  sealed interface Heard permits Answer, Question {}

  /**
   * A host's answer.
   *
   * @param token of the question
   * @param status 0, or that of a SIDR reply
   * @param number of the queue pair
   * @param key of the queue pair
   * @param privateData that came with it
   */
  record Answer(int token, int status, int number, int key, List<Byte> privateData)
      implements Heard {}

  /**
   * A host asks.
   *
   * @param id for the answer
   * @param address of the bridge that it asks
   * @param port of the service
   * @param client the host
   * @param clientPort of its own
   * @param privateData that came with it
   */
  record Question(
      long id, Gid address, int port, Gid client, int clientPort, List<Byte> privateData)
      implements Heard {}

  /** By what, for people. */
  String describe();

  /**
   * Asks a host. The answer has the token.
   *
   * @param source the bridge's address that it hears it from
   */
  void ask(int token, Gid source, Gid server, int port, List<Byte> privateData);

  /** Makes the way to a host ready. */
  void prepare(Gid source, Gid destination);

  /** Hears the questions to these addresses and ports from now on, and no others. */
  void serve(List<Gid> addresses, List<Integer> ports);

  /** Answers a question with the number of one of the bridge's queue pairs. */
  void accept(long question, int number, List<Byte> privateData);

  /** Answers that there is no such queue pair. */
  void refuse(long question);

  /** What has come next; null where nothing has. One thread's. */
  @Nullable Heard take();

  /** What is wrong, in words; empty for nothing. */
  String look();

  @Override
  void close();
}
