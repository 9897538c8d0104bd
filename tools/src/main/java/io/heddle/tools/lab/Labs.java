package io.heddle.tools.lab;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Selection of the best kind of lab that this machine allows. If the machine refuses a kind, the
 * system's message is the reason.
 *
 * <p>An unprivileged user can create namespaces only in a process that was started in a user
 * namespace. So for {@link Lab.Kind#USER_NAMESPACE} a command runs itself again under {@link
 * #userNamespaceCommand} and creates the lab there.
 */
public final class Labs {
  private static final LabPlan SMALLEST = new LabPlan(1, 1, 1500);

  /**
   * Selected kind of lab.
   *
   * @param kind kind to use
   * @param reason clause with the refusals that led to this kind
   */
  public record Choice(Lab.Kind kind, String reason) {}

  private Labs() {}

  public static Choice choose() {
    Optional<String> namespaces = refusal(Lab.Kind.NAMESPACES);
    if (namespaces.isEmpty()) {
      return new Choice(Lab.Kind.NAMESPACES, "this process may create them");
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

  /**
   * Returns the message with which the system refuses a kind of lab; empty if the kind is allowed.
   */
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
    } catch (HeddleException refused) {
      return Optional.of(String.valueOf(refused.getMessage()));
    }
  }

  /**
   * Creates a lab. For {@link Lab.Kind#USER_NAMESPACE} this process must already be inside a user
   * namespace.
   */
  public static Lab create(Lab.Kind kind, LabPlan plan) {
    return switch (kind) {
      case NAMESPACES, USER_NAMESPACE -> NamespaceLab.create(kind, plan);
      case LOOPBACK -> new LoopbackLab(plan);
    };
  }

  /**
   * Returns a command line that runs {@code command} as root of a new user namespace. The namespace
   * has its own network namespace and its own {@code /run}, so that {@code ip netns} works.
   */
  public static List<String> userNamespaceCommand(List<String> command) {
    List<String> whole =
        new ArrayList<>(List.of("unshare", "--user", "--map-root-user", "--net", "--mount"));
    whole.addAll(List.of("sh", "-c", "mount -t tmpfs tmpfs /run && exec \"$@\"", "sh"));
    whole.addAll(command);
    return whole;
  }
}
