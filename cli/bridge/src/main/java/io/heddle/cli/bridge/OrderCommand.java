package io.heddle.cli.bridge;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** An order to a bridge among others. It waits until all bridges have followed. */
@Command(
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All bridges that are there have followed.",
      "1:They haven't within ten seconds, or the bridge refused."
    })
abstract class OrderCommand implements Callable<Integer> {
  @Option(
      names = "--control",
      paramLabel = "FILE",
      description = "The bridge's socket for orders (/run/heddle-bridge/bridge.sock).")
  private Path control = BridgeConfig.CONTROL;

  @Option(names = "--end", description = "Take the order back.")
  private boolean end;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  /** As {@link BridgeSocket} takes it. */
  abstract String order(boolean isEnd);

  @Override
  public Integer call() throws IOException {
    String answer = BridgeSocket.ask(control, order(end));
    JsonNode outcome = Json.mapper().readTree(answer);
    if (!outcome.path("text").isTextual()) {
      throw new HeddleException("the bridge's answer can't be understood: " + answer);
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(json ? answer.strip() : outcome.path("text").asText());
    out.flush();
    return outcome.path("followed").asBoolean() ? 0 : ExitCode.FAILED;
  }

  /** Gives everything up. */
  @Command(
      name = "drain",
      description = {
        "Has a bridge give all its groups to the others and take nothing more, before work on it.",
        "The old owner stops and says so before the new one begins: no packet comes twice, and"
            + " those in between are counted as no-owner. It is refused where no other bridge"
            + " could take over."
      })
  static final class Drain extends OrderCommand {
    @Override
    String order(boolean isEnd) {
      return isEnd ? "end-drain" : "drain";
    }
  }

  /** Takes nothing while another can. */
  @Command(
      name = "hold",
      description =
          "Has a bridge own nothing while another one can. So groups don't move back to a bridge"
              + " that was repaired, until that is taken back.")
  static final class Hold extends OrderCommand {
    @Override
    String order(boolean isEnd) {
      return isEnd ? "end-hold" : "hold";
    }
  }

  /** An order about one group. */
  abstract static class OfGroup extends OrderCommand {
    @Parameters(paramLabel = "GROUP", description = "As heddle bridge show names it.")
    private String group = "";

    private final String word;

    OfGroup(String word) {
      this.word = word;
    }

    @Override
    String order(boolean isEnd) {
      return (isEnd ? "release" : word) + " " + group;
    }
  }

  /** Owns a group. */
  @Command(
      name = "take",
      description =
          "Has this bridge own a group, until another order or its end. All bridges know of it.")
  static final class Take extends OfGroup {
    Take() {
      super("take");
    }
  }

  /** Gives a group to another bridge. */
  @Command(
      name = "yield",
      description =
          "Has another bridge own a group, until another order or that bridge's end. All bridges"
              + " know of it.")
  static final class Yield extends OfGroup {
    Yield() {
      super("yield");
    }
  }
}
