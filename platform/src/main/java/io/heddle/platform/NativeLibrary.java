package io.heddle.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Shared library of C functions, opened at its first use. It is never closed, since libraries have
 * threads and handlers of their own.
 */
public final class NativeLibrary {
  private final String name;
  private @Nullable Optional<SymbolLookup> opened;

  /**
   * @param name SONAME of the library; so no development package is needed at run time
   */
  public NativeLibrary(String name) {
    this.name = name;
  }

  private synchronized Optional<SymbolLookup> open() {
    Optional<SymbolLookup> found = opened;
    if (found == null) {
      try {
        found = Optional.of(SymbolLookup.libraryLookup(name, Arena.global()));
      } catch (IllegalArgumentException absent) {
        found = Optional.empty();
      }
      opened = found;
    }
    return found;
  }

  public String name() {
    return name;
  }

  /** Returns whether the library can be opened on this host. */
  public boolean isPresent() {
    return open().isPresent();
  }

  /**
   * Returns a function of the library, which is looked up later.
   *
   * @param arguments number of its arguments
   */
  public NativeFunction function(String symbol, int arguments) {
    return new NativeFunction(this, symbol, arguments);
  }

  Optional<MemorySegment> find(String symbol) {
    return open().flatMap(library -> library.find(symbol));
  }
}
