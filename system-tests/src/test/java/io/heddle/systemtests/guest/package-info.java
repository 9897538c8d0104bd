/**
 * Tests that need a kernel with RDMA: they run in an emulated guest that {@code
 * system-tests/guest/run.sh} starts, with Debian's kernel, its Soft RoCE (rxe) and stock programs.
 *
 * <p>The calling thread waits for the guest. On a machine that can't run a guest, the tests are
 * skipped with the reason.
 */
@NullMarked
package io.heddle.systemtests.guest;

import org.jspecify.annotations.NullMarked;
