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

/**
 * Command that sends an order to one of several bridges, and waits until all bridges have applied
 * it.
 */
@Command(
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:All live bridges have followed.",
      "1:They didn't within ten seconds, or the bridge refused."
    })
abstract class OrderCommand implements Callable<Integer> {
  @Option(
      names = "--control",
      paramLabel = "FILE",
      description = "The bridge's socket for orders (/run/heddle-bridge/bridge.sock).")
  private Path control = BridgeConfig.CONTROL;

  @Option(names = "--end", description = "Withdraw the order.")
  private boolean end;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  /** Returns the order in the syntax of {@link BridgeSocket}. */
  abstract String order(boolean isEnd);

  @Override
  public Integer call() throws IOException {
    String answer = BridgeSocket.request(control, order(end));
    JsonNode outcome = Json.mapper().readTree(answer);
    if (!outcome.path("text").isTextual()) {
      throw new HeddleException("the bridge's answer can't be understood: " + answer);
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(json ? answer.strip() : outcome.path("text").asText());
    out.flush();
    return outcome.path("followed").asBoolean() ? 0 : ExitCode.FAILED;
  }

  /** The {@code drain} command: makes a bridge give its groups to the others. */
  @Command(
      name = "drain",
      description = {
        "Drains a bridge before work on it: it gives all its groups to the others and takes no"
            + " more.",
        "The old owner stops and announces it before the new one begins: no packet is duplicated,"
            + " and those in between are counted as no-owner. It is refused where no other bridge"
            + " could take over."
      })
  static final class Drain extends OrderCommand {
    @Override
    String order(boolean isEnd) {
      return isEnd ? "end-drain" : "drain";
    }
  }

  /** The {@code hold} command: holds a bridge in reserve. */
  @Command(
      name = "hold",
      description =
          "Holds a bridge in reserve: it owns nothing while another one can. So groups don't move"
              + " back to a repaired bridge until the order is withdrawn.")
  static final class Hold extends OrderCommand {
    @Override
    String order(boolean isEnd) {
      return isEnd ? "end-hold" : "hold";
    }
  }

  /** Command that sends an order about one group. */
  abstract static class GroupOrder extends OrderCommand {
    @Parameters(paramLabel = "GROUP", description = "Its name in heddle bridge show.")
    private String group = "";

    private final String word;

    GroupOrder(String word) {
      this.word = word;
    }

    @Override
    String order(boolean isEnd) {
      return (isEnd ? "release" : word) + " " + group;
    }
  }

  /** The {@code take} command: assigns a group to this bridge. */
  @Command(
      name = "take",
      description =
          "Assigns a group to this bridge, until another order or its end. All bridges know the"
              + " order.")
  static final class Take extends GroupOrder {
    Take() {
      super("take");
    }
  }

  /** The {@code yield} command: assigns a group to another bridge. */
  @Command(
      name = "yield",
      description =
          "Assigns a group to another bridge, until another order or that bridge's end. All bridges"
              + " know the order.")
  static final class Yield extends GroupOrder {
    Yield() {
      super("yield");
    }
  }
}
