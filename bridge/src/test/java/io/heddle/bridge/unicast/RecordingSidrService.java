package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.SidrService;
import io.heddle.verbs.Gid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Communication manager that records the bridge's requests and answers, and delivers the test's
 * messages.
 */
final class RecordingSidrService implements SidrService {
  final List<String> log = new ArrayList<>();
  final Queue<Message> heard = new ArrayDeque<>();
  int token;
  private String fault = "";

  @Override
  public String describe() {
    return "the test";
  }

  @Override
  public void request(int by, Gid source, Gid server, int port, List<Byte> privateData) {
    token = by;
    log.add(source + " asks " + server + " for " + port + " with " + privateData.subList(0, 3));
  }

  @Override
  public void prepare(Gid source, Gid destination) {
    log.add("a path from " + source + " to " + destination);
  }

  @Override
  public void serve(List<Gid> addresses, List<Integer> ports) {
    log.add("serves " + addresses + " " + ports);
  }

  @Override
  public void accept(long question, int number, List<Byte> privateData) {
    log.add(String.format(Locale.ROOT, "%d is 0x%x", question, number));
  }

  @Override
  public void refuse(long question) {
    log.add(question + " is refused");
  }

  @Override
  public @Nullable Message take() {
    return heard.poll();
  }

  void fail(String why) {
    fault = why;
  }

  @Override
  public String check() {
    return fault;
  }

  @Override
  public void close() {
    log.add("closed");
  }
}
