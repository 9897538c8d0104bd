package io.heddle.bridge.status;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters that a bridge writes into its status file, and that a reader of the file gets. */
class StatusFileTest {
  @TempDir private Path folder;

  @Test
  void countersAreReadableAndOutliveBridge() {
    Path path = folder.resolve("bridge.status");
    StatusFile file = StatusFile.create(path, "room1", "/etc/heddle/bridge.conf");
    file.describeFabric(0, "a", "wire eth2");
    file.describeFabric(1, "b", "wire eth3");
    long fabric = file.fabricCounters(1);
    FabricCounter.received(fabric, 15, 4800);
    FabricCounter.UNKNOWN_GROUP.add(fabric, 2);
    int first = file.open("239.1.1.1", "direction=both");
    int second = file.open("ff05::1", "direction=a-to-b");
    long counters = file.counters(second, 0);
    GroupCounters.arrived(counters, 13);
    for (int i = 1; i <= 10; i++) {
      GroupCounters.forwarded(counters, 340, i * 1000L);
    }
    GroupCounters.dropped(counters, DropReason.TOO_LARGE, 3);
    file.suspend(first, true);
    file.report("storm-guard: something");

    BridgeStatus status = BridgeStatus.read(path);
    assertTrue(status.running());
    assertEquals("room1", status.name());
    assertEquals(ProcessHandle.current().pid(), status.process());
    assertEquals("storm-guard: something", status.lastError());
    assertEquals(15, status.fabrics().get(1).receivedPackets());
    assertEquals(2, status.fabrics().get(1).unknownGroup());
    assertTrue(status.groups().get(0).suspended());
    BridgeStatus.Group group = status.groups().get(1);
    assertFalse(group.suspended());
    assertEquals("ff05::1", group.group());
    BridgeStatus.Direction ab = group.directions().getFirst();
    assertEquals(13, ab.arrived());
    assertEquals(10, ab.forwarded());
    assertEquals(3400, ab.forwardedBytes());
    assertEquals(Map.of("too-large", 3L), ab.drops());
    assertEquals(5.0, ab.latenessMedianUs(), 5.0 / 8);
    assertEquals(10.0, ab.latenessP999Us(), 10.0 / 8);
    assertNull(group.directions().getLast().latenessMedianUs());

    file.close();
    BridgeStatus after = BridgeStatus.read(path);
    assertFalse(after.running());
    assertEquals(10, after.groups().get(1).directions().getFirst().forwarded());
  }

  @Test
  void reusedSlotStartsAtZero() {
    Path path = folder.resolve("bridge.status");
    try (StatusFile file = StatusFile.create(path, "b", "c")) {
      int slot = file.open("239.1.1.1", "");
      GroupCounters.arrived(file.counters(slot, 0), 7);
      file.release(slot);
      assertTrue(BridgeStatus.read(path).groups().isEmpty());
      assertEquals(slot, file.open("239.1.1.2", ""));
      assertEquals(
          0, BridgeStatus.read(path).groups().getFirst().directions().getFirst().arrived());
    }
  }

  @Test
  void fileOfAnotherKindIsNotOverwritten() throws Exception {
    for (byte[] content : new byte[][] {{1}, new byte[8], "name = room1\n".getBytes(UTF_8)}) {
      Path path = Files.write(folder.resolve("bridge.conf"), content);
      String refused =
          assertThrows(HeddleException.class, () -> StatusFile.create(path, "b", "c")).getMessage();
      assertTrue(refused.contains("there is a file that isn't a bridge's status"), refused);
      assertArrayEquals(content, Files.readAllBytes(path));
    }
  }

  @Test
  void fileOfAnUnfinishedStartIsUsedAgain() throws Exception {
    Path path = Files.createFile(folder.resolve("bridge.status"));
    StatusFile.create(path, "b", "c").close();
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(new byte[8]);
    }
    StatusFile.create(path, "b", "c").close();
    assertEquals("b", BridgeStatus.read(path).name());
  }

  @Test
  void folderInItsPlaceIsNamed() throws Exception {
    Path path = Files.createDirectory(folder.resolve("bridge.status"));
    assertEquals(
        "the status file %s can't be created: it is a directory; \"status\" in the configuration"
                .formatted(path)
            + " names another",
        assertThrows(HeddleException.class, () -> StatusFile.create(path, "b", "c")).getMessage());
    Path below = Files.createFile(folder.resolve("file")).resolve("bridge.status");
    String refused =
        assertThrows(HeddleException.class, () -> StatusFile.create(below, "b", "c")).getMessage();
    assertTrue(refused.contains(folder.resolve("file") + " isn't a directory;"), refused);
  }

  @Test
  void twoBridgesCantShareFile() {
    Path path = folder.resolve("bridge.status");
    try (StatusFile file = StatusFile.create(path, "b", "c")) {
      file.alive();
      HeddleException refused =
          assertThrows(HeddleException.class, () -> StatusFile.create(path, "b", "c"));
      assertTrue(
          refused.getMessage().startsWith("another bridge runs with the status file " + path),
          refused.getMessage());
    }
  }

  @Test
  void rejectsOtherFiles() throws Exception {
    Path path = folder.resolve("other");
    assertThrows(HeddleException.class, () -> BridgeStatus.read(path));
    Files.write(path, new byte[10]);
    assertThrows(HeddleException.class, () -> BridgeStatus.read(path));
    Files.write(path, new byte[5000]);
    assertThrows(HeddleException.class, () -> BridgeStatus.read(path));
  }

  @Test
  void bucketsAreAccurateToAnEighth() {
    for (long ns = 1; ns > 0 && ns < 1L << 41; ns += 1 + ns / 5) {
      long most = LatenessHistogram.most(LatenessHistogram.bucket(ns));
      assertTrue(most >= ns && most <= ns + ns / 8, ns + " in " + most);
    }
  }
}
