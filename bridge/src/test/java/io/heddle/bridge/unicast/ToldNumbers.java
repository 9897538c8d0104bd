package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.NumberService;
import io.heddle.verbs.Gid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A communication manager that keeps what the bridge asks and answers, and hears what a test says.
 */
final class ToldNumbers implements NumberService {
  final List<String> told = new ArrayList<>();
  final Queue<Heard> heard = new ArrayDeque<>();
  int token;
  private String fault = "";

  @Override
  public String describe() {
    return "the test";
  }

  @Override
  public void ask(int by, Gid source, Gid server, int port, List<Byte> privateData) {
    token = by;
    told.add(source + " asks " + server + " for " + port + " with " + privateData.subList(0, 3));
  }

  @Override
  public void prepare(Gid source, Gid destination) {
    told.add("a way from " + source + " to " + destination);
  }

  @Override
  public void serve(List<Gid> addresses, List<Integer> ports) {
    told.add("serves " + addresses + " " + ports);
  }

  @Override
  public void accept(long question, int number, List<Byte> privateData) {
    told.add(String.format(Locale.ROOT, "%d is 0x%x", question, number));
  }

  @Override
  public void refuse(long question) {
    told.add(question + " is refused");
  }

  @Override
  public @Nullable Heard take() {
    return heard.poll();
  }

  void fail(String why) {
    fault = why;
  }

  @Override
  public String look() {
    return fault;
  }

  @Override
  public void close() {
    told.add("closed");
  }
}
