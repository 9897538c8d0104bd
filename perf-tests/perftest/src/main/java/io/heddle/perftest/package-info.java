/**
 * perftest's tests ({@code write_bw}, {@code send_bw}, {@code read_bw}, {@code write_lat}, {@code
 * send_lat}) over any {@link io.heddle.verbs.VerbsProvider}, speaking perftest's own TCP handshake,
 * so that the other end may be stock perftest; and what perftest lacks: planes.
 *
 * <p>To read it: {@code PerftestCommand} turns options into {@code Settings}; {@code Session} goes
 * through a test from the first byte of the handshake ({@code PerftestDialogue} over {@code
 * ControlConnection}) to the report; {@code BandwidthRun}, {@code WriteLatencyRun} and {@code
 * SendLatencyRun} are the loops that are measured. docs/perftest-handshake.md has the wire.
 *
 * <p>Threads: everything runs on the command's thread, but one daemon thread that reads the TCP
 * connection, so that a peer that goes away is noticed in the middle of a run. The loops allocate
 * nothing. Memory and verbs objects belong to {@code TestDevice} and {@code TestQueues} and end
 * with the session.
 */
@NullMarked
package io.heddle.perftest;

import org.jspecify.annotations.NullMarked;
