/* Long options of the programs: each option has a row with the address of its value and its type. */
#ifndef HEDDLE_COMMAND_LINE_H
#define HEDDLE_COMMAND_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
  OPTION_TEXT,         /* const char * */
  OPTION_WORDS,        /* text for the function `choose`, which ends the process if the text is invalid */
  OPTION_INT,          /* int */
  OPTION_SIZE,         /* size_t, bytes */
  OPTION_SECONDS,      /* double */
  OPTION_MILLISECONDS, /* double, converted to seconds */
  OPTION_ON,           /* int, set to 1; no value */
  OPTION_OFF           /* int, set to 0; no value */
};

struct option_row {
  const char *name; /* name without its dashes */
  enum option_kind kind;
  void *value;
  int64_t least, most; /* bounds of a number */
  void (*choose)(char *words);
};

/*
 * Reads the command line; --help and -h print the usage and end the process. Unknown options, numbers out of bounds and
 * arguments that aren't options end the process with EXIT_BAD_USAGE. The last element of `rows` has no name.
 */
void read_options(int argc, char **argv, const struct option_row *rows, void (*usage)(FILE *));

/* Prints the usage to standard error and ends the process with EXIT_BAD_USAGE. */
_Noreturn void bad_usage(void (*usage)(FILE *));

#endif
