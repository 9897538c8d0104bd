package io.heddle.plugin;

import io.heddle.platform.Log;
import java.lang.foreign.Arena;

/**
 * Log that writes to NCCL's own logger, so that NCCL_DEBUG applies. Only for the control path,
 * since it allocates.
 */
final class NcclLog implements Log {
  private final HostTable host;

  NcclLog(HostTable host) {
    this.host = host;
  }

  @Override
  public void write(Level level, String sentence) {
    try (Arena arena = Arena.ofConfined()) {
      /* A NUL would end the message for C, and a line end would break NCCL's line. */
      String text = sentence.replace('\0', ' ').replace('\n', ' ');
      host.log(level.ncclLevel(), arena.allocateFrom(text).address());
    }
  }
}
