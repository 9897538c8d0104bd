package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of NCCL's configuration files: their variables and their misleading lines. */
class NcclFilesCheckTest extends ExaminedHost {
  private NcclFiles files(String user, String system, String... pairs) throws Exception {
    Files.writeString(folder.resolve(".nccl.conf"), user);
    Path etc = Files.writeString(folder.resolve("etc.conf"), system);
    return NcclFiles.read(environment(pairs), folder, etc);
  }

  @Test
  void ncclFilesSetVariablesThatTheEnvironmentLacks() throws Exception {
    NcclFiles files =
        files(
            "# the user's\nNCCL_IB_TIMEOUT=22\nNCCL_IB_TIMEOUT=20\nNCCL_DEBUG=WARN\nNCCL_NET=\n",
            "NCCL_IB_TIMEOUT=19\nNCCL_IB_HCA==mlx5_0:1\nNCCL_NET=IB\nHEDDLE_POLICY=pinned",
            "NCCL_DEBUG=");
    assertEquals(
        "22", files.environment().get("NCCL_IB_TIMEOUT"), "the first line of the first file");
    assertEquals("", files.environment().get("NCCL_DEBUG"), "set, though to nothing");
    assertEquals("", files.environment().get("NCCL_NET"), "an empty line of a file counts as well");
    assertEquals("=mlx5_0:1", files.environment().get("NCCL_IB_HCA"));
    assertEquals("pinned", files.environment().get("HEDDLE_POLICY"), "without a last line end");
    assertEquals(folder.resolve("etc.conf"), files.origins().get("NCCL_IB_HCA"));
    assertEquals(4, files.overridden().size(), files.overridden().toString());
    List<DoctorCommand.Entry> entries =
        examine(files.environment(), new NcclFilesCheck(files), new SettingsCheck());
    only(entries, "hang-long");
    assertTrue(
        entries.stream()
            .anyMatch(entry ->
                entry
                    .evidence()
                    .equals("NCCL_IB_TIMEOUT=22 comes from " + folder.resolve(".nccl.conf"))),
        entries.toString());
  }

  @Test
  void namedFileReplacesTheUsersFile() throws Exception {
    Path named = Files.writeString(folder.resolve("job.conf"), "NCCL_BUFFSIZE=65536\n");
    NcclFiles files =
        files("NCCL_BUFFSIZE=1\nNCCL_DEBUG=INFO\n", "NCCL_DEBUG=WARN\n", "NCCL_CONF_FILE=" + named);
    assertEquals("65536", files.environment().get("NCCL_BUFFSIZE"));
    assertEquals("WARN", files.environment().get("NCCL_DEBUG"));
    NcclFiles none = files("NCCL_BUFFSIZE=1\n", "", "NCCL_CONF_FILE=" + folder.resolve("none"));
    assertFalse(none.environment().containsKey("NCCL_BUFFSIZE"));
    only(examine(none.environment(), new NcclFilesCheck(none)), "conf-file-missing");
  }

  @Test
  void misleadingLinesOfNcclFilesAreReported() throws Exception {
    NcclFiles files =
        files(
            "NCCL_IB_TIMEOUT = 22\n  # no remark\nexport NCCL_DEBUG=INFO\nNCCL_IB_SL=3 # low\n\n",
            "");
    assertFalse(files.environment().containsKey("NCCL_IB_TIMEOUT"));
    assertEquals(" 22", files.environment().get("NCCL_IB_TIMEOUT "));
    assertEquals("3 # low", files.environment().get("NCCL_IB_SL"));
    List<DoctorCommand.Entry> odd =
        causes(examine(files.environment(), new NcclFilesCheck(files)), "conf-line");
    assertEquals(3, odd.size(), odd.toString());
    assertTrue(odd.getFirst().evidence().contains(".nccl.conf:1: \"NCCL_IB_TIMEOUT = 22\""));
  }
}
