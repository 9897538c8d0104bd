/* Names of verbs' codes, and conversion between rates and their codes. */
#include <infiniband/verbs.h>

static const char *named(const char *const *names, unsigned count, int code) {
  return code >= 0 && (unsigned)code < count && names[code] != NULL ? names[code] : "unknown";
}
#define NAMED(names, code) named(names, sizeof(names) / sizeof *(names), (int)(code))

const char *ibv_node_type_str(enum ibv_node_type type) {
  static const char *const names[] = {[IBV_NODE_CA] = "channel adapter",
                                      [IBV_NODE_SWITCH] = "switch",
                                      [IBV_NODE_ROUTER] = "router",
                                      [IBV_NODE_RNIC] = "iWARP NIC"};
  return NAMED(names, type);
}

const char *ibv_port_state_str(enum ibv_port_state state) {
  static const char *const names[] = {"no change", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return NAMED(names, state);
}

const char *ibv_event_type_str(enum ibv_event_type event) {
  static const char *const names[] = {[IBV_EVENT_CQ_ERR] = "completion queue failed",
                                      [IBV_EVENT_QP_FATAL] = "queue pair failed",
                                      [IBV_EVENT_QP_REQ_ERR] = "invalid request of the peer's",
                                      [IBV_EVENT_QP_ACCESS_ERR] = "peer's access not allowed",
                                      [IBV_EVENT_COMM_EST] = "communication established",
                                      [IBV_EVENT_SQ_DRAINED] = "sends drained",
                                      [IBV_EVENT_PATH_MIG] = "path migrated",
                                      [IBV_EVENT_PATH_MIG_ERR] = "path migration failed",
                                      [IBV_EVENT_DEVICE_FATAL] = "device failed",
                                      [IBV_EVENT_PORT_ACTIVE] = "port became active",
                                      [IBV_EVENT_PORT_ERR] = "port went down",
                                      [IBV_EVENT_LID_CHANGE] = "LID change",
                                      [IBV_EVENT_PKEY_CHANGE] = "P_Key change",
                                      [IBV_EVENT_SM_CHANGE] = "SM change",
                                      [IBV_EVENT_SRQ_ERR] = "shared receive queue failed",
                                      [IBV_EVENT_SRQ_LIMIT_REACHED] = "shared receive queue's limit reached",
                                      [IBV_EVENT_QP_LAST_WQE_REACHED] = "last receive used",
                                      [IBV_EVENT_CLIENT_REREGISTER] = "registration asked for again",
                                      [IBV_EVENT_GID_CHANGE] = "GID table changed",
                                      [IBV_EVENT_WQ_FATAL] = "work queue failed"};
  return NAMED(names, event);
}

const char *ibv_wc_status_str(enum ibv_wc_status status) {
  static const char *const names[] = {[IBV_WC_SUCCESS] = "success",
                                      [IBV_WC_LOC_LEN_ERR] = "local length error",
                                      [IBV_WC_LOC_QP_OP_ERR] = "local operation error",
                                      [IBV_WC_LOC_EEC_OP_ERR] = "local EE context error",
                                      [IBV_WC_LOC_PROT_ERR] = "local protection error",
                                      [IBV_WC_WR_FLUSH_ERR] = "work request flushed",
                                      [IBV_WC_MW_BIND_ERR] = "memory window not bound",
                                      [IBV_WC_BAD_RESP_ERR] = "bad response error",
                                      [IBV_WC_LOC_ACCESS_ERR] = "local access error",
                                      [IBV_WC_REM_INV_REQ_ERR] = "remote invalid request error",
                                      [IBV_WC_REM_ACCESS_ERR] = "remote access error",
                                      [IBV_WC_REM_OP_ERR] = "remote operation error",
                                      [IBV_WC_RETRY_EXC_ERR] = "no acknowledgement within the retries",
                                      [IBV_WC_RNR_RETRY_EXC_ERR] = "receiver not ready within the retries",
                                      [IBV_WC_LOC_RDD_VIOL_ERR] = "local RDD violation",
                                      [IBV_WC_REM_INV_RD_REQ_ERR] = "remote invalid RD request error",
                                      [IBV_WC_REM_ABORT_ERR] = "aborted by the remote",
                                      [IBV_WC_INV_EECN_ERR] = "invalid EE context number",
                                      [IBV_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
                                      [IBV_WC_FATAL_ERR] = "fatal error",
                                      [IBV_WC_RESP_TIMEOUT_ERR] = "response timeout error",
                                      [IBV_WC_GENERAL_ERR] = "general error"};
  return NAMED(names, status);
}

/* ---- rates ---- */

static const struct {
  enum ibv_rate rate;
  int multiple, mbps; /* multiple of 2.5 Gbit/s; 0 if the code is no rate */
} rates[] = {{IBV_RATE_2_5_GBPS, 1, 2500},    {IBV_RATE_5_GBPS, 2, 5000},       {IBV_RATE_10_GBPS, 4, 10000},
             {IBV_RATE_14_GBPS, 0, 14062},    {IBV_RATE_20_GBPS, 8, 20000},     {IBV_RATE_25_GBPS, 0, 25781},
             {IBV_RATE_28_GBPS, 0, 28125},    {IBV_RATE_30_GBPS, 12, 30000},    {IBV_RATE_40_GBPS, 16, 40000},
             {IBV_RATE_50_GBPS, 20, 53125},   {IBV_RATE_56_GBPS, 0, 56250},     {IBV_RATE_60_GBPS, 24, 60000},
             {IBV_RATE_80_GBPS, 32, 80000},   {IBV_RATE_100_GBPS, 0, 103125},   {IBV_RATE_112_GBPS, 0, 112500},
             {IBV_RATE_120_GBPS, 48, 120000}, {IBV_RATE_168_GBPS, 0, 168750},   {IBV_RATE_200_GBPS, 0, 206250},
             {IBV_RATE_300_GBPS, 0, 309375},  {IBV_RATE_400_GBPS, 160, 425000}, {IBV_RATE_600_GBPS, 240, 637500}};
enum { RATES = sizeof rates / sizeof *rates };

int ibv_rate_to_mult(enum ibv_rate rate) {
  for (int i = 0; i < RATES; i++) {
    if (rates[i].rate == rate && rates[i].multiple != 0) return rates[i].multiple;
  }
  return -1;
}

enum ibv_rate mult_to_ibv_rate(int multiple) {
  for (int i = 0; i < RATES; i++) {
    if (multiple != 0 && rates[i].multiple == multiple) return rates[i].rate;
  }
  return IBV_RATE_MAX;
}

int ibv_rate_to_mbps(enum ibv_rate rate) {
  for (int i = 0; i < RATES; i++) {
    if (rates[i].rate == rate) return rates[i].mbps;
  }
  return -1;
}

enum ibv_rate mbps_to_ibv_rate(int mbps) {
  for (int i = 0; i < RATES; i++) {
    if (rates[i].mbps == mbps) return rates[i].rate;
  }
  return IBV_RATE_MAX;
}
