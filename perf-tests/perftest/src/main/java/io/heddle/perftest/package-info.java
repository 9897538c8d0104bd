/**
 * perftest's tests ({@code write_bw}, {@code send_bw}, {@code read_bw}, {@code write_lat}, {@code
 * send_lat}) over any {@link io.heddle.verbs.VerbsProvider}, with perftest's own TCP handshake, so
 * that the other end may be stock perftest. They also support planes, which perftest lacks.
 *
 * <p>Reading order: {@code PerftestCommand} turns options into {@code Settings}; {@code Session}
 * runs a test from the first byte of the handshake ({@code PerftestDialogue} over {@code
 * ControlConnection}) to the report; {@code BandwidthRun}, {@code WriteLatencyRun} and {@code
 * SendLatencyRun} are the measured loops. docs/perftest-handshake.md describes the wire format.
 *
 * <p>Threads: all code runs on the command's thread, except one daemon thread that reads the TCP
 * connection, so that a loop detects the loss of its peer. The loops allocate nothing. Memory and
 * verbs objects belong to {@code TestDevice} and {@code TestQueues} and end with the session.
 */
@NullMarked
package io.heddle.perftest;

import org.jspecify.annotations.NullMarked;
