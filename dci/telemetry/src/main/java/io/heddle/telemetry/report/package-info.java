/**
 * What a gateway reports, as values. Their names in JSON are those of the YANG module
 * src/main/yang/heddle-dci.yang; numbers of 64 bits are strings there, as RFC 7951 §6.1 asks. No
 * thread.
 */
@NullMarked
package io.heddle.telemetry.report;

import org.jspecify.annotations.NullMarked;
