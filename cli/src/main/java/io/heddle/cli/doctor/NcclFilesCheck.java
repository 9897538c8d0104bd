package io.heddle.cli.doctor;

import java.util.ArrayList;
import java.util.List;

/** Check of the files from which NCCL reads settings in addition to the environment. */
final class NcclFilesCheck implements Check {
  private static final Cause MISSING =
      new Cause(
          "conf-file-missing", "NCCL_CONF_FILE names an unreadable file; NCCL gives no warning");
  private static final Cause LINE =
      new Cause("conf-line", "a line that NCCL ignores, or reads differently than it looks");

  private final NcclFiles files;

  NcclFilesCheck(NcclFiles files) {
    this.files = files;
  }

  @Override
  public String name() {
    return "nccl-conf";
  }

  @Override
  public String summary() {
    return "Settings that a job takes from the file that NCCL_CONF_FILE names, or else from"
        + " ~/.nccl.conf, and from /etc/nccl.conf, as NCCL reads them: the environment wins,"
        + " then the first file. All other checks use the combined settings.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(MISSING, LINE);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    if (!files.missing().isEmpty()) {
      findings.add(
          new Finding.Warning(
              MISSING,
              "NCCL_CONF_FILE=" + files.missing() + " can't be read",
              "correct it, or unset it: NCCL doesn't read ~/.nccl.conf while it is set"));
    }
    files
        .suspect()
        .forEach(line -> findings.add(new Finding.Warning(LINE, line, "correct the line")));
    files
        .origins()
        .forEach((name, file) ->
            findings.add(
                new Finding.Ok(
                    name + "=" + files.environment().get(name) + " comes from " + file)));
    files.overridden().forEach(line -> findings.add(new Finding.Ok(line)));
    if (findings.isEmpty()) {
      findings.add(new Finding.Ok("no file has settings"));
    }
    return findings;
  }
}
