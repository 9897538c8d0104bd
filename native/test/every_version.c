/* Uses the table of one version as an NCCL of that version does: init, devices, properties. */
#include "harness.h"

static char name[64];

/* Calls the members that every version has, at that version's offsets. */
#define CHECK_PROPERTIES(version, properties_version, ...) \
  static void exercise_v##version(const void *found) { \
    const struct nccl_net_v##version *net = found; \
    CHECK(strcasecmp(net->name, "heddle") == 0, "the table's name is %s", net->name); \
    int result = net->init(__VA_ARGS__); \
    CHECK(result == NCCL_SUCCESS, "init returned %d", result); \
    int count = 0; \
    result = net->devices(&count); \
    CHECK(result == NCCL_SUCCESS && count > 0, "devices returned %d, count %d", result, count); \
    struct { \
      struct nccl_properties_v##properties_version properties; \
      unsigned char behind[64]; \
    } room; \
    memset(&room, 0x5a, sizeof room); \
    result = net->get_properties(0, &room.properties); \
    CHECK(result == NCCL_SUCCESS, "getProperties returned %d", result); \
    for (size_t i = 0; i < sizeof room.behind; i++) { \
      CHECK(room.behind[i] == 0x5a, "getProperties wrote %zu bytes past the end", i + 1); \
    } \
    CHECK(room.properties.name != NULL && room.properties.pci_path != NULL, "no name or no path"); \
    CHECK(room.properties.speed > 0 && room.properties.port >= 1, "speed %d, port %d", room.properties.speed, \
          room.properties.port); \
    CHECK(room.properties.latency >= 0 && room.properties.latency < 1e3f, "latency %f", \
          (double)room.properties.latency); \
    CHECK(room.properties.max_receives == 8 && room.properties.max_comms > 0, "receives %d, comms %d", \
          room.properties.max_receives, room.properties.max_comms); \
    CHECK((room.properties.pointer_support & 1) == 1, "no host memory"); \
    snprintf(name, sizeof name, "%s", room.properties.name); \
    result = net->get_properties(count, &room.properties); \
    CHECK(result != NCCL_SUCCESS, "device %d of %d has properties", count, count); \
  }

static struct nccl_config config = {.traffic_class = -1};
static void *context;

CHECK_PROPERTIES(6, 6, logger)
CHECK_PROPERTIES(7, 7, logger)
CHECK_PROPERTIES(8, 8, logger)
CHECK_PROPERTIES(9, 9, logger)
CHECK_PROPERTIES(10, 9, logger, NULL)
CHECK_PROPERTIES(11, 11, &context, 1, &config, logger, NULL)
CHECK_PROPERTIES(12, 12, &context, 1, &config, logger, NULL)

int main(int count, char **arguments) {
  CHECK(count == 2, "usage: every_version 6..12");
  static void (*const exercise[])(const void *) = {exercise_v6,  exercise_v7,  exercise_v8, exercise_v9,
                                                   exercise_v10, exercise_v11, exercise_v12};
  int version = atoi(arguments[1]);
  CHECK(version >= 6 && version <= 12, "there is no version %d", version);
  char symbol[32];
  snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", version);
  exercise[version - 6](table(load(), symbol));
  char banner[32];
  snprintf(banner, sizeof banner, "net v%d", version);
  CHECK(strstr(logged, banner) != NULL, "the banner doesn't say %s", banner);
  printf("ok: version %d, first device %s\n", version, name);
  return 0;
}
