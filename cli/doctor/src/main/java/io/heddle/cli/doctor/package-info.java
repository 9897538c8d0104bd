/**
 * {@code heddle doctor}: looks at a host before a job, and says what is right, doubtful and wrong,
 * with the evidence and the remedy. Each {@link io.heddle.cli.doctor.Check} is one class; what it
 * looks at comes from {@link io.heddle.cli.doctor.Host}. Changes nothing. Runs on the command's
 * thread; the end that answers probes has one for each socket.
 */
@NullMarked
package io.heddle.cli.doctor;

import org.jspecify.annotations.NullMarked;
