package io.heddle.tools.job;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/**
 * Option that selects how hosts are isolated from each other, for every command that sets up a lab.
 */
public final class HostsOption {
  private static final long ORDERLY_END_SECONDS = 10;

  /** Isolation of hosts. AUTO selects the best kind that the machine allows. */
  enum Network {
    AUTO,
    NAMESPACES,
    USER,
    LOOPBACK
  }

  @Option(
      names = "--network",
      paramLabel = "WHERE",
      defaultValue = "AUTO",
      description =
          "Isolation of hosts: ${COMPLETION-CANDIDATES}, in upper or lower case. AUTO selects"
              + " network namespaces, else those in a user namespace, else loopback addresses, and"
              + " prints its choice.")
  private Network network = Network.AUTO;

  @Option(
      names = "--inside-user-namespace",
      paramLabel = "WHY",
      hidden = true,
      description = "Set by the command when it re-executes itself.")
  private @Nullable String insideUserNamespace;

  /**
   * Selects the kind of lab by the option.
   *
   * @throws HeddleException if the machine refuses the requested kind
   */
  public Labs.Choice choose() {
    if (insideUserNamespace != null) {
      return new Labs.Choice(Lab.Kind.USER_NAMESPACE, insideUserNamespace);
    }
    return switch (network) {
      case AUTO -> Labs.choose();
      case NAMESPACES -> requested(Lab.Kind.NAMESPACES);
      case USER -> requested(Lab.Kind.USER_NAMESPACE);
      case LOOPBACK -> requested(Lab.Kind.LOOPBACK);
    };
  }

  /**
   * Selects like {@link #choose}, for a command that can't use loopback addresses, because it needs
   * namespaces.
   *
   * @param why beginning of the error message, which names the feature that needs namespaces
   */
  public Labs.Choice chooseNamespaces(String why) {
    Labs.Choice choice = choose();
    if (choice.kind() == Lab.Kind.LOOPBACK) {
      throw new HeddleException(
          why
              + ", which needs network namespaces; these hosts are loopback addresses: "
              + choice.reason());
    }
    return choice;
  }

  private Labs.Choice requested(Lab.Kind kind) {
    Labs.refusal(kind)
        .ifPresent(refusal -> {
          throw new HeddleException(
              "--network " + network + " is refused by this machine: " + refusal);
        });
    return new Labs.Choice(kind, "requested by --network");
  }

  /** Returns whether this process must be re-executed inside a user namespace. */
  public boolean mustEnter(Labs.Choice choice) {
    return choice.kind() == Lab.Kind.USER_NAMESPACE && insideUserNamespace == null;
  }

  /**
   * Executes the command again, inside a user namespace. A process can enter a user namespace only
   * before it has threads.
   *
   * @return exit code of the second process
   */
  public static int runInside(Labs.Choice choice, CommandLine line)
      throws IOException, InterruptedException {
    CommandLine root = line;
    while (root.getParent() != null) {
      root = root.getParent();
    }
    /*
     * Entering a user namespace changes the credentials, which clears the parent-death signal. So
     * the signal is set again inside.
     */
    List<String> own = new ArrayList<>(ParentDeathSignal.prefix());
    own.addAll(OwnCommandLine.asStarted());
    own.addAll(root.getParseResult().originalArgs());
    own.addAll(List.of("--inside-user-namespace", choice.reason()));
    try (Cleanup cleanup = new Cleanup()) {
      Process inner = new ProcessBuilder(Labs.userNamespaceCommand(own)).inheritIO().start();
      cleanup.add(() -> end(inner));
      return inner.waitFor();
    }
  }

  /* Ends the process. Sends SIGTERM first, so that the command can end its ranks. */
  private static void end(Process inner) throws InterruptedException {
    inner.destroy();
    if (!inner.waitFor(ORDERLY_END_SECONDS, TimeUnit.SECONDS)) {
      inner.destroyForcibly();
    }
  }
}
