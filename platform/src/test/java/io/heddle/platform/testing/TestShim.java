package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Loader of the shim's C functions for the soft device. Tests use it in separate JVMs: a JVM looks
 * up the functions only once, and the other tests need a JVM without them, which uses the Java
 * versions.
 */
public final class TestShim {
  private static final Path LIBRARY = Checkout.path("native/target/build/libshim_of_tests.so");
  private static final List<String> PACKET_CALLS = List.of("seal", "take");
  private static final List<String> SOCKET_CALLS =
      List.of("send", "receive", "ready", "send_pages");

  private TestShim() {}

  /** Runs a class in a separate JVM. Skips the test if the library isn't built. */
  public static SeparateJvm.End run(
      Path output, List<String> options, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    assumeTrue(Files.isReadable(LIBRARY), () -> LIBRARY + " isn't built: mvn -pl native verify");
    return SeparateJvm.run(output, List.of(), options, program, arguments);
  }

  /** Registers the packet functions. Returns false if the processor can't run them. */
  public static boolean registerPacketCalls() throws Throwable {
    StructLayout calls = layout(PACKET_CALLS);
    MemorySegment quickest =
        (MemorySegment)
            Linker.nativeLinker()
                .downcallHandle(
                    library().findOrThrow("heddle_packet_calls"),
                    FunctionDescriptor.of(calls, ValueLayout.JAVA_INT))
                .invokeExact((SegmentAllocator) Arena.global(), 0);
    return register(quickest, "heddle.packet.", PACKET_CALLS);
  }

  /** Registers the functions for system calls. */
  public static void registerSocketCalls() {
    MemorySegment calls = library().findOrThrow("heddle_socket_calls");
    register(calls.reinterpret(layout(SOCKET_CALLS).byteSize()), "heddle.socket.", SOCKET_CALLS);
  }

  private static SymbolLookup library() {
    return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
  }

  private static StructLayout layout(List<String> names) {
    return MemoryLayout.structLayout(
        names.stream().map(ValueLayout.JAVA_LONG::withName).toArray(MemoryLayout[]::new));
  }

  private static boolean register(MemorySegment calls, String prefix, List<String> names) {
    for (int i = 0; i < names.size(); i++) {
      long function = calls.getAtIndex(ValueLayout.JAVA_LONG, i);
      if (function == 0) {
        return false;
      }
      System.setProperty(prefix + names.get(i), Long.toString(function));
    }
    return true;
  }
}
