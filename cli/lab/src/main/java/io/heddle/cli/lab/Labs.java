package io.heddle.cli.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which kind of lab this machine allows, best first, with the system's own words where it refuses.
 *
 * <p>Namespaces for a normal user need a process that entered a user namespace before it started:
 * whoever gets {@link Lab.Kind#USER_NAMESPACE} runs itself again under {@link
 * #userNamespaceCommand} and there makes a lab of that kind.
 */
public final class Labs {
  private static final LabPlan SMALLEST = new LabPlan(1, 1, 1500);

  /**
   * A decision.
   *
   * @param kind what to use
   * @param why a clause for people: what was refused before this kind was taken
   */
  public record Choice(Lab.Kind kind, String why) {}

  private Labs() {}

  public static Choice choose() {
    Optional<String> namespaces = refusal(Lab.Kind.NAMESPACES);
    if (namespaces.isEmpty()) {
      return new Choice(Lab.Kind.NAMESPACES, "this process may make them");
    }
    Optional<String> user = refusal(Lab.Kind.USER_NAMESPACE);
    if (user.isEmpty()) {
      return new Choice(
          Lab.Kind.USER_NAMESPACE, "plain namespaces are refused (" + namespaces.get() + ")");
    }
    return new Choice(
        Lab.Kind.LOOPBACK,
        "namespaces are refused ("
            + namespaces.get()
            + "), user namespaces too ("
            + user.get()
            + ")");
  }

  /** What the system says against a kind of lab; empty where it allows it. */
  public static Optional<String> refusal(Lab.Kind kind) {
    try {
      switch (kind) {
        case NAMESPACES -> NamespaceLab.create(kind, SMALLEST).close();
        case USER_NAMESPACE ->
            Shell.run(
                userNamespaceCommand(
                    List.of(
                        "sh",
                        "-c",
                        "ip netns add probe && ip -n probe link add e1 type veth peer name p1")));
        case LOOPBACK -> {}
      }
      return Optional.empty();
    } catch (LabException refused) {
      return Optional.of(String.valueOf(refused.getMessage()));
    }
  }

  /** Sets up a lab. For {@link Lab.Kind#USER_NAMESPACE} this process must be inside one already. */
  public static Lab create(Lab.Kind kind, LabPlan plan) {
    return switch (kind) {
      case NAMESPACES, USER_NAMESPACE -> NamespaceLab.create(kind, plan);
      case LOOPBACK -> new LoopbackLab(plan);
    };
  }

  /**
   * A command line that runs {@code command} as root of a new user namespace, with a network
   * namespace and a {@code /run} of its own, where {@code ip netns} works.
   */
  public static List<String> userNamespaceCommand(List<String> command) {
    List<String> whole =
        new ArrayList<>(List.of("unshare", "--user", "--map-root-user", "--net", "--mount"));
    whole.addAll(List.of("sh", "-c", "mount -t tmpfs tmpfs /run && exec \"$@\"", "sh"));
    whole.addAll(command);
    return whole;
  }
}
