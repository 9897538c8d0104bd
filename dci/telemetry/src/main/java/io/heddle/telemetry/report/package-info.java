/**
 * A gateway's reports, as values. Their JSON names are those of the YANG module
 * src/main/yang/heddle-dci.yang; 64-bit numbers are strings there, as RFC 7951 §6.1 requires. No
 * thread.
 */
@NullMarked
package io.heddle.telemetry.report;

import org.jspecify.annotations.NullMarked;
