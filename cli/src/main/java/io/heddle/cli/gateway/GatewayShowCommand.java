package io.heddle.cli.gateway;

import io.heddle.gateway.GatewayStatus;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands {@code heddle gateway show}, which query the running gateway. */
@Command(
    name = "show",
    description = "Shows the state of this host's gateway; --watch is a live view.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "[COMMAND]")
final class GatewayShowCommand implements Callable<Integer> {
  private static final String JSON = "--json";
  private static final String JSON_TEXT = "Print one JSON document.";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--watch", description = "Draw lists and flows every second until Ctrl-C.")
  private boolean watch;

  @CommandLine.Mixin private GatewayControl control = new GatewayControl();

  private PrintWriter out() {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  @Override
  public Integer call() throws InterruptedException {
    if (!watch) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(), "Missing required subcommand");
    }
    new GatewayLiveView(control, out()).run();
    return 0;
  }

  @Command(
      name = "flows",
      description = "Queue pairs with their rates and lists, the fastest first.",
      mixinStandardHelpOptions = true)
  int flows(
      @CommandLine.Mixin GatewayControl at,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    return print(
        at,
        GatewayRequestHandler.FLOWS,
        json,
        () ->
            GatewayTables.flows(
                at.request(GatewayRequestHandler.FLOWS, GatewayStatus.Flows.class)));
  }

  @Command(
      name = "lists",
      description = "Segment lists: alive or the reason why not, buckets, rates, largest packet.",
      mixinStandardHelpOptions = true)
  int lists(
      @CommandLine.Mixin GatewayControl at,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    return print(
        at,
        GatewayRequestHandler.LISTS,
        json,
        () ->
            GatewayTables.lists(
                at.request(GatewayRequestHandler.LISTS, GatewayStatus.Lists.class)));
  }

  @Command(
      name = "rules",
      description = "Steered queue pairs, and whether their rules are active.",
      mixinStandardHelpOptions = true)
  int rules(
      @CommandLine.Mixin GatewayControl at,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    return print(
        at,
        GatewayRequestHandler.RULES,
        json,
        () ->
            GatewayTables.rules(
                at.request(GatewayRequestHandler.RULES, GatewayStatus.Rules.class)));
  }

  @Command(
      name = "peers",
      description = "Controllers and reflectors: sessions, rules, refusals.",
      mixinStandardHelpOptions = true)
  int peers(
      @CommandLine.Mixin GatewayControl at,
      @Option(names = JSON, description = JSON_TEXT) boolean json) {
    return print(
        at,
        GatewayRequestHandler.PEERS,
        json,
        () ->
            GatewayTables.peers(
                at.request(GatewayRequestHandler.PEERS, GatewayStatus.Peers.class)));
  }

  private int print(
      GatewayControl at,
      String question,
      boolean json,
      java.util.function.Supplier<List<String>> table) {
    if (json) {
      out().println(at.request(question));
    } else {
      table.get().forEach(out()::println);
    }
    out().flush();
    return 0;
  }
}
