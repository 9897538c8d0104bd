package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of numbers as NCCL reads them. The expected values are those of strtoll(text, NULL, 0) in
 * glibc 2.36. If strtoll fails with ERANGE, NCCL uses its default.
 */
class NcclNumberTest {
  @ParameterizedTest
  @CsvSource({
    "22, 22",
    "'  22', 22",
    "'\t-22 ', -22",
    "+7, 7",
    "0x16, 22",
    "-0X1F, -31",
    "026, 22",
    "0, 0",
    "08, 0",
    "019, 1",
    "0x, 0",
    "0xg, 0",
    "22ms, 22",
    "1e3, 1",
    "x, 0",
    "-, 0",
    "- 5, 0",
    "'', 0",
    "9223372036854775807, 9223372036854775807",
    "-9223372036854775808, -9223372036854775808",
    "9223372036854775808, 1234",
    "0xffffffffffffffff, 1234",
    "-0xffffffffffffffff, 1234",
  })
  void parsesLikeNccl(String text, long value) {
    assertEquals(value, NcclNumber.parse(text, 1234));
  }
}
