package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Takes a speaker's thread into a network namespace: sockets that it opens from then on are there.
 */
public final class NamespaceEntry {
  private static final int CLONE_NEWNET = 0x40000000;
  private static final Path NAMESPACES = Path.of("/run/netns");

  private NamespaceEntry() {}

  /**
   * @param namespace by the name that {@code ip netns} knows it by
   */
  public static void moveIn(BgpSpeaker speaker, String namespace) {
    int result = speaker.ask(() -> enter(NAMESPACES.resolve(namespace)));
    assertEquals(0, result, "setns");
  }

  private static int enter(Path namespace) {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor twoInts =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    FunctionDescriptor pathAndInt =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    try (Arena arena = Arena.ofConfined()) {
      int fd =
          (int)
              linker
                  .downcallHandle(
                      linker.defaultLookup().findOrThrow("open"),
                      pathAndInt,
                      Linker.Option.firstVariadicArg(2))
                  .invoke(arena.allocateFrom(namespace.toString()), 0);
      int result =
          (int)
              linker
                  .downcallHandle(linker.defaultLookup().findOrThrow("setns"), twoInts)
                  .invoke(fd, CLONE_NEWNET);
      linker
          .downcallHandle(
              linker.defaultLookup().findOrThrow("close"),
              FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
          .invoke(fd);
      return result;
    } catch (Throwable failed) {
      throw new IllegalStateException("setns to " + namespace, failed);
    }
  }
}
