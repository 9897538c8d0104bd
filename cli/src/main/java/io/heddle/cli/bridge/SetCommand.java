package io.heddle.cli.bridge;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The {@code bridge set} command: injects a fault. */
@Command(
    name = "set",
    description = {
      "Makes a bridge drop one of N packets in each direction of a group, to test how hosts react.",
      "drop=off ends it, and so does the bridge's end. heddle bridge show warns while it is in"
          + " effect, and counts the dropped packets as injected."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:The setting is in effect.", "1:The bridge refused, or there is none."},
    mixinStandardHelpOptions = true)
public final class SetCommand implements Callable<Integer> {
  private static final Pattern DROP = Pattern.compile("drop=(?:off|1/([1-9][0-9]{0,8}))");

  @Parameters(
      index = "0",
      paramLabel = "SETTING",
      description = "The fault: drop=1/N, or drop=off.")
  private String setting = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "GROUP",
      description = "Its name in heddle bridge show; default: all groups.")
  private String group = "";

  @Option(
      names = "--control",
      paramLabel = "FILE",
      description = "The bridge's socket for orders (/run/heddle-bridge/bridge.sock).")
  private Path control = BridgeConfig.CONTROL;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    Matcher drop = DROP.matcher(setting);
    if (!drop.matches()) {
      throw new OptionRange(spec)
          .refusal(setting + " can't be set; there are drop=1/N, as drop=1/100, and drop=off");
    }
    String every = Objects.requireNonNullElse(drop.group(1), "0");
    String answer = BridgeSocket.request(control, ("drop " + every + " " + group).strip());
    JsonNode outcome = Json.mapper().readTree(answer);
    if (!outcome.path("text").isTextual()) {
      throw new HeddleException("the bridge's answer can't be understood: " + answer);
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(json ? answer.strip() : outcome.path("text").asText());
    out.flush();
    return 0;
  }
}
