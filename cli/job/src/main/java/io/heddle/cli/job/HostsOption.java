package io.heddle.cli.job;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.SelfCall;
import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.Labs;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The option that says how hosts are kept apart, for every command that sets some up. */
public final class HostsOption {
  private static final long ORDERLY_END_SECONDS = 10;

  /** Where ranks live; AUTO takes the best that the machine allows. */
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
          "Where ranks live: ${COMPLETION-CANDIDATES}, in either case. AUTO takes network"
              + " namespaces, else those of a user namespace, else loopback addresses, and says"
              + " which.")
  private Network network = Network.AUTO;

  @Option(
      names = "--inside-user-namespace",
      paramLabel = "WHY",
      hidden = true,
      description = "Set by the command when it runs itself.")
  private @Nullable String insideUserNamespace;

  /**
   * @throws HeddleException when what was asked for is refused by the machine
   */
  public Labs.Choice choose() {
    if (insideUserNamespace != null) {
      return new Labs.Choice(Lab.Kind.USER_NAMESPACE, insideUserNamespace);
    }
    return switch (network) {
      case AUTO -> Labs.choose();
      case NAMESPACES -> asked(Lab.Kind.NAMESPACES);
      case USER -> asked(Lab.Kind.USER_NAMESPACE);
      case LOOPBACK -> asked(Lab.Kind.LOOPBACK);
    };
  }

  /**
   * As {@link #choose}, for a command that can't do with loopback addresses.
   *
   * @param why what they don't do for, as a sentence without its end
   */
  public Labs.Choice chooseNamespaces(String why) {
    Labs.Choice choice = choose();
    if (choice.kind() == Lab.Kind.LOOPBACK) {
      throw new HeddleException(
          why
              + ", which takes network namespaces; these hosts are loopback addresses: "
              + choice.why());
    }
    return choice;
  }

  private Labs.Choice asked(Lab.Kind kind) {
    Labs.refusal(kind)
        .ifPresent(refusal -> {
          throw new HeddleException(
              "--network " + network + " is refused by this machine: " + refusal);
        });
    return new Labs.Choice(kind, "asked for by --network");
  }

  /** Whether this process is on the wrong side of a user namespace's door. */
  public boolean mustEnter(Labs.Choice choice) {
    return choice.kind() == Lab.Kind.USER_NAMESPACE && insideUserNamespace == null;
  }

  /**
   * Runs the whole command again inside a user namespace: only a process that entered it before it
   * had threads can use it.
   *
   * @return its exit code
   */
  public static int runInside(Labs.Choice choice, CommandLine line)
      throws IOException, InterruptedException {
    CommandLine root = line;
    while (root.getParent() != null) {
      root = root.getParent();
    }
    /* In a user namespace the tie must be made anew: who gets other rights loses it. */
    List<String> own = new ArrayList<>(TiedProcess.prefix());
    own.addAll(SelfCall.asStarted());
    own.addAll(root.getParseResult().originalArgs());
    own.addAll(List.of("--inside-user-namespace", choice.why()));
    try (Cleanup cleanup = new Cleanup()) {
      Process inner = new ProcessBuilder(Labs.userNamespaceCommand(own)).inheritIO().start();
      cleanup.add(() -> end(inner));
      return inner.waitFor();
    }
  }

  /* SIGTERM first, so that it can end its ranks. */
  private static void end(Process inner) throws InterruptedException {
    inner.destroy();
    if (!inner.waitFor(ORDERLY_END_SECONDS, TimeUnit.SECONDS)) {
      inner.destroyForcibly();
    }
  }
}
