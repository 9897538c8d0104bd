package io.heddle.perftest;

import io.heddle.verbs.WorkCompletion;

/**
 * Texts that name the usual cause of a failed completion. Errors of verbs name their causes
 * themselves.
 */
final class Remedy {
  private Remedy() {}

  /**
   * Returns the usual cause of a completion's status as a clause, or an empty text if there is
   * none.
   */
  static String of(WorkCompletion.Status status) {
    return switch (status) {
      case RETRY_EXCEEDED ->
          ": the peer didn't acknowledge; it ended, is unreachable from this address, or is too"
              + " slow for the timeout (-u)";
      case RECEIVER_NOT_READY_RETRY_EXCEEDED -> ": the peer posted no receive";
      case REMOTE_ACCESS_ERROR ->
          ": the peer's memory region doesn't permit it; use the same -s, -q and -a at both ends";
      case REMOTE_INVALID_REQUEST_ERROR, LOCAL_LENGTH_ERROR ->
          ": the message doesn't fit the receive; use the same -s and -m at both ends";
      case WORK_REQUEST_FLUSHED -> ": an earlier request failed";
      default -> "";
    };
  }
}
