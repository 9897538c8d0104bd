#include "command_line.h"

#include <getopt.h>
#include <stdlib.h>

#include "report.h"

enum { MOST_ROWS = 32, HELP = MOST_ROWS + 1 };

void bad_usage(void (*usage)(FILE *)) {
  usage(stderr);
  exit(EXIT_BAD_USAGE);
}

static int has_value(const struct option_row *row) { return row->kind != OPTION_ON && row->kind != OPTION_OFF; }

static void take(const struct option_row *row, char *text) {
  char name[64];
  snprintf(name, sizeof name, "--%s", row->name);
  switch (row->kind) {
    case OPTION_TEXT: *(const char **)row->value = text; break;
    case OPTION_WORDS: row->choose(text); break;
    case OPTION_INT: *(int *)row->value = (int)whole_number(name, text, row->least, row->most); break;
    case OPTION_SIZE: *(size_t *)row->value = (size_t)whole_number(name, text, row->least, row->most); break;
    case OPTION_SECONDS: *(double *)row->value = (double)whole_number(name, text, row->least, row->most); break;
    case OPTION_MILLISECONDS:
      *(double *)row->value = (double)whole_number(name, text, row->least, row->most) * 1e-3;
      break;
    case OPTION_ON: *(int *)row->value = 1; break;
    case OPTION_OFF: *(int *)row->value = 0; break;
  }
}

void read_options(int argc, char **argv, const struct option_row *rows, void (*usage)(FILE *)) {
  struct option longs[MOST_ROWS + 2] = {{"help", no_argument, NULL, HELP}};
  for (int i = 0; rows[i].name != NULL; i++) {
    if (i == MOST_ROWS) fail_with(EXIT_BAD_USAGE, "more than %d options", MOST_ROWS);
    longs[i + 1] = (struct option){rows[i].name, has_value(&rows[i]) ? required_argument : no_argument, NULL, i};
  }
  int found;
  while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
    if (found == HELP || found == 'h') {
      usage(stdout);
      exit(0);
    }
    if (found == '?') bad_usage(usage);
    take(&rows[found], optarg);
  }
  if (optind != argc) bad_usage(usage);
}
