package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the users who may drain planes, and that orders are neither read nor written through
 * links.
 */
class DrainOrdersTest {
  @TempDir Path folder;

  private String refusal() {
    return assertThrows(HeddleException.class, DrainOrders.forThisProcess(folder)::keys)
        .getMessage();
  }

  private Path orders() throws Exception {
    Path file = Files.writeString(folder.resolve("drained"), "plane:1\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    return file;
  }

  @Test
  void ordersOfThisUserAreFollowed() throws Exception {
    orders();
    assertEquals(Set.of("plane:1"), DrainOrders.forThisProcess(folder).keys());
    DrainOrders.in(folder).write(Set.of("plane:2", "plane:1"));
    assertEquals(Set.of("plane:1", "plane:2"), DrainOrders.forThisProcess(folder).keys());
  }

  @Test
  void ordersOfAnotherUserAreRefusedWithItsName() throws Exception {
    OtherUser.skipUnlessRoot();
    OtherUser.giveToOther(orders());
    String refusal = refusal();
    assertTrue(refusal.contains("user " + OtherUser.USER), refusal);
    assertTrue(refusal.contains(folder.resolve("drained").toString()), refusal);
  }

  @Test
  void ordersWritableByOthersAreRefused() throws Exception {
    Files.setPosixFilePermissions(orders(), PosixFilePermissions.fromString("rw-r--rw-"));
    assertTrue(refusal().contains("mode 646"), refusal());
  }

  @Test
  void linkToOrdersIsRefused() throws Exception {
    Path elsewhere = Files.move(orders(), folder.resolve("elsewhere"));
    Files.createSymbolicLink(folder.resolve("drained"), elsewhere);
    assertTrue(refusal().contains("a link"), refusal());
  }

  @Test
  void pipeDoesNotBlockTheReader() throws Exception {
    assertEquals(0, OtherUser.run("mkfifo", folder.resolve("drained").toString()));
    assertTrue(refusal().contains("a regular file"), refusal());
  }

  /* Root may write orders into the folder of another user, who may have planted links there. */
  @Test
  void ordersAreNotWrittenThroughAPlantedLink() throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "untouched");
    Files.createSymbolicLink(folder.resolve("drained.new"), victim);
    Files.createSymbolicLink(folder.resolve("drained"), victim);
    DrainOrders.in(folder).write(Set.of("plane:1"));
    assertEquals("untouched", Files.readString(victim));
    assertEquals(Set.of("plane:1"), DrainOrders.in(folder).keys());
  }

  @Test
  void rootsOrdersInAUsersFolderAreFollowedByThatUser() throws Exception {
    OtherUser.skipUnlessRoot();
    OtherUser.giveToOther(folder);
    DrainOrders.in(folder).write(Set.of("plane:1"));
    assertEquals(
        0, OtherUser.runAsOther("grep", "-q", "plane:1", folder.resolve("drained").toString()));
    DrainOrders ofUser = new DrainOrders(folder.resolve("drained"), Set.of(OtherUser.USER));
    assertEquals(Set.of("plane:1"), ofUser.keys());
  }
}
