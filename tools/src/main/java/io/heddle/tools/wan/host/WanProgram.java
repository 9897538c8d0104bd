package io.heddle.tools.wan.host;

import io.heddle.cli.controller.ControllerCommand;
import io.heddle.cli.gateway.GatewayCommand;
import java.util.Arrays;
import picocli.CommandLine;

/** Main class of the demo's processes, with the commands of gateway and controller only. */
final class WanProgram {
  private WanProgram() {}

  public static void main(String[] arguments) {
    Object command =
        switch (arguments[0]) {
          case "gateway" -> new GatewayCommand();
          case "controller" -> new ControllerCommand();
          default -> throw new IllegalArgumentException(arguments[0]);
        };
    CommandLine line = new CommandLine(command);
    line.setExecutionExceptionHandler((failed, of, parsed) -> {
      System.err.println(failed.getMessage());
      return 1;
    });
    System.exit(line.execute(Arrays.copyOfRange(arguments, 1, arguments.length)));
  }
}
