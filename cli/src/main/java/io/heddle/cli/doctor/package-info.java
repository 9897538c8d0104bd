/**
 * {@code heddle doctor}: checks a host before a job and reports each result with evidence and
 * remedy. Each {@link io.heddle.cli.doctor.Check} is one class; {@link io.heddle.cli.doctor.Host}
 * supplies its input. No check changes the host. Checks run on the command's thread; the responder
 * to probes has a thread for each socket.
 */
@NullMarked
package io.heddle.cli.doctor;

import org.jspecify.annotations.NullMarked;
