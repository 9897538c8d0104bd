package io.heddle.tools.bridge;

import io.heddle.cli.kit.Installation;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Link that carries a group's packets from fabric a to fabric b during a measurement. */
interface MeasuredLink extends AutoCloseable {
  /** Returns the name in reports. */
  String name();

  Gid group();

  /** Starts carrying packets. */
  void start();

  /** Stops carrying packets. The link then uses no processor time. */
  void stop();

  @Override
  void close();

  /** Reference without gateway: both hosts are in fabric a. */
  record NoGateway(Gid group) implements MeasuredLink {
    @Override
    public String name() {
      return "one fabric";
    }

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public void close() {}
  }

  /** C program that forwards the packets. It is started and ended for each round. */
  final class CProgram implements MeasuredLink {
    private final String name;
    private final String mode;
    private final Gid group;
    private final TwoFabrics fabrics;
    private final int gateway;
    private final Path program;
    private @Nullable Process process;

    /**
     * @param mode first argument of the program
     * @throws HeddleException if the program isn't built
     */
    CProgram(String name, String mode, Gid group, TwoFabrics fabrics, int gateway) {
      this.name = name;
      this.mode = mode;
      this.group = group;
      this.fabrics = fabrics;
      this.gateway = gateway;
      program = Installation.requirePart(Installation.DATAGRAM_FORWARDER, "the bridge's rival");
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Gid group() {
      return group;
    }

    @Override
    public void start() {
      List<String> command =
          List.of(
              program.toString(),
              mode,
              TwoFabrics.interfaceName(0),
              TwoFabrics.interfaceName(1),
              group.toString());
      try {
        process =
            new ProcessBuilder(fabrics.command(fabrics.gateway(gateway), command))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        String word = lines.readLine();
        if (!"ready".equals(word)) {
          throw new HeddleException(name + " doesn't begin; its word is above");
        }
      } catch (IOException failed) {
        throw new HeddleException(name + " can't be started: " + failed.getMessage(), failed);
      }
    }

    @Override
    public void stop() {
      close();
    }

    @Override
    public void close() {
      Process running = process;
      if (running != null) {
        running.destroyForcibly();
        running.onExit().join();
        process = null;
      }
    }
  }
}
