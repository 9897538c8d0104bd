package io.heddle.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Check of which network plugin NCCL will load. */
final class PluginCheck implements Check {
  private static final Cause DISABLED =
      new Cause("plugin-disabled", "NCCL_NET_PLUGIN=none: NCCL loads no plugin at all");
  private static final Cause MISSING =
      new Cause(
          "plugin-not-found",
          "the library that NCCL will look for isn't found: NCCL falls back to its own transports"
              + " without a message");
  private static final Cause OTHER =
      new Cause("plugin-other", "NCCL will load another plugin instead of Heddle, or before it");
  private static final Cause INCOMPLETE =
      new Cause("plugin-incomplete", "the jar is missing beside the plugin's library");
  private static final Cause NET =
      new Cause("net-other", "NCCL_NET names another network, so NCCL rejects Heddle");
  private static final Cause SILENT =
      new Cause(
          "silent-fallback",
          "NCCL_NET isn't set: if the plugin can't start, NCCL falls back to its own transports"
              + " without a message");
  private static final Cause ONE_SIDED =
      new Cause(
          "one-sided-setting",
          "HEDDLE_ONE_SIDED is neither 0 nor 1, so the plugin offers no one-sided operations");
  private static final String NAME = "heddle";

  @Override
  public String name() {
    return "plugin";
  }

  @Override
  public String summary() {
    return "The library that NCCL opens as its network plugin, by NCCL_NET_PLUGIN, LD_LIBRARY_PATH"
        + " and the linker's cache, and whether NCCL_NET admits it.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(DISABLED, MISSING, OTHER, INCOMPLETE, NET, SILENT, ONE_SIDED);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    String wanted = host.setting("NCCL_NET_PLUGIN");
    if (wanted.equalsIgnoreCase("none")) {
      findings.add(
          new Finding.Fault(DISABLED, "NCCL_NET_PLUGIN=" + wanted, "set NCCL_NET_PLUGIN=heddle"));
    } else {
      library(host, wanted, findings);
    }
    net(host.setting("NCCL_NET"), findings);
    findings.add(oneSided(host.setting("HEDDLE_ONE_SIDED")));
    return findings;
  }

  /*
   * Finds the library that NCCL will open. Of several names, NCCL uses the first that it finds and
   * whose plugin starts.
   */
  private static void library(Host host, String wanted, List<Finding> findings) {
    LibrarySearch search = new LibrarySearch(host.environment());
    List<String> searched = new ArrayList<>();
    for (String name : wanted.isEmpty() ? new String[] {""} : wanted.split(",")) {
      for (String file : files(name.strip())) {
        Path found = search.find(file);
        searched.add(file);
        if (found != null) {
          findings.add(judge(found, host.places().plugin()));
          return;
        }
      }
    }
    findings.add(
        new Finding.Fault(
            MISSING,
            "NCCL_NET_PLUGIN%s makes NCCL open %s: not found in %s"
                .formatted(
                    wanted.isEmpty() ? ", which isn't set," : "=" + wanted,
                    String.join(", then ", searched),
                    search.description()),
            "set NCCL_NET_PLUGIN=" + host.places().plugin()));
  }

  private static List<String> files(String name) {
    if (name.isEmpty()) {
      return List.of("libnccl-net.so");
    }
    return name.contains("/") || name.startsWith("lib") && name.endsWith(".so")
        ? List.of(name)
        : List.of(name, "libnccl-net-" + name + ".so");
  }

  private static Finding judge(Path found, Path plugin) {
    Path real = real(found);
    if (real == null || !real.getFileName().toString().equals("libnccl-net-heddle.so")) {
      return new Finding.Fault(
          OTHER,
          "NCCL opens " + found + (real == null || real.equals(found) ? "" : ", which is " + real),
          "set NCCL_NET_PLUGIN=" + plugin);
    }
    if (!Files.exists(real.resolveSibling("heddle-plugin.jar"))) {
      return new Finding.Fault(
          INCOMPLETE,
          "there is no heddle-plugin.jar beside " + real,
          "keep the plugin's folder together: link to the library instead of copying it");
    }
    return new Finding.Ok("NCCL opens " + found + (real.equals(found) ? "" : ", which is " + real));
  }

  private static @Nullable Path real(Path file) {
    try {
      return file.toRealPath();
    } catch (IOException vanished) {
      return null;
    }
  }

  private static Finding oneSided(String wanted) {
    return switch (wanted) {
      case "", "0" ->
          new Finding.Ok(
              "NCCL's other transports carry one-sided operations (RMA, GIN by a proxy);"
                  + " HEDDLE_ONE_SIDED=1 moves them to the planes");
      case "1" ->
          new Finding.Ok(
              "HEDDLE_ONE_SIDED=1: one-sided operations go over the planes; GPU memory needs"
                  + " dma-bufs, and hasn't been tried with a GPU");
      default ->
          new Finding.Warning(
              ONE_SIDED, "HEDDLE_ONE_SIDED=" + wanted, "set HEDDLE_ONE_SIDED=1, or unset it");
    };
  }

  private static void net(String net, List<Finding> findings) {
    if (net.isEmpty()) {
      findings.add(
          new Finding.Warning(
              SILENT,
              "NCCL_NET isn't set",
              "set NCCL_NET=Heddle: then a plugin that can't start is an error"));
    } else if (net.equalsIgnoreCase(NAME)) {
      findings.add(new Finding.Ok("NCCL_NET=" + net + ": Heddle or an error"));
    } else {
      findings.add(
          new Finding.Fault(
              NET, "NCCL_NET=" + net + " lets NCCL use that network only", "set NCCL_NET=Heddle"));
    }
  }
}
