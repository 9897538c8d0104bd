/*
 * Symbols of libibverbs' internals that stock vendor libraries (libmlx5, libefa; perftest links to them) and librdmacm
 * import. The loader requires that these symbols exist. A vendor's driver registers itself, but is never offered a
 * device, so it calls none of the others.
 */
#include <stdio.h>
#include <stdlib.h>

#include <stdbool.h>

extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

void verbs_register_driver_34(const void *operations);
void verbs_register_driver_34(const void *operations) { (void)operations; }

#define UNREACHABLE(name) \
  void name(void); \
  void name(void) { \
    fputs("verbs-standin: a vendor's driver called " #name ", which isn't here\n", stderr); \
    abort(); \
  }

UNREACHABLE(__verbs_log)
UNREACHABLE(__ioctl_final_num_attrs)
UNREACHABLE(_verbs_init_and_alloc_context)
UNREACHABLE(execute_ioctl)
UNREACHABLE(ibv_cmd_advise_mr)
UNREACHABLE(ibv_cmd_alloc_dm)
UNREACHABLE(ibv_cmd_alloc_mw)
UNREACHABLE(ibv_cmd_alloc_pd)
UNREACHABLE(ibv_cmd_attach_mcast)
UNREACHABLE(ibv_cmd_close_xrcd)
UNREACHABLE(ibv_cmd_create_ah)
UNREACHABLE(ibv_cmd_create_counters)
UNREACHABLE(ibv_cmd_create_cq)
UNREACHABLE(ibv_cmd_create_cq_ex)
UNREACHABLE(ibv_cmd_create_flow)
UNREACHABLE(ibv_cmd_create_flow_action_esp)
UNREACHABLE(ibv_cmd_create_qp)
UNREACHABLE(ibv_cmd_create_qp_ex)
UNREACHABLE(ibv_cmd_create_qp_ex2)
UNREACHABLE(ibv_cmd_create_rwq_ind_table)
UNREACHABLE(ibv_cmd_create_srq)
UNREACHABLE(ibv_cmd_create_srq_ex)
UNREACHABLE(ibv_cmd_create_wq)
UNREACHABLE(ibv_cmd_dealloc_mw)
UNREACHABLE(ibv_cmd_dealloc_pd)
UNREACHABLE(ibv_cmd_dereg_mr)
UNREACHABLE(ibv_cmd_destroy_ah)
UNREACHABLE(ibv_cmd_destroy_counters)
UNREACHABLE(ibv_cmd_destroy_cq)
UNREACHABLE(ibv_cmd_destroy_flow)
UNREACHABLE(ibv_cmd_destroy_flow_action)
UNREACHABLE(ibv_cmd_destroy_qp)
UNREACHABLE(ibv_cmd_destroy_rwq_ind_table)
UNREACHABLE(ibv_cmd_destroy_srq)
UNREACHABLE(ibv_cmd_destroy_wq)
UNREACHABLE(ibv_cmd_detach_mcast)
UNREACHABLE(ibv_cmd_free_dm)
UNREACHABLE(ibv_cmd_get_context)
UNREACHABLE(ibv_cmd_modify_cq)
UNREACHABLE(ibv_cmd_modify_flow_action_esp)
UNREACHABLE(ibv_cmd_modify_qp)
UNREACHABLE(ibv_cmd_modify_qp_ex)
UNREACHABLE(ibv_cmd_modify_srq)
UNREACHABLE(ibv_cmd_modify_wq)
UNREACHABLE(ibv_cmd_open_qp)
UNREACHABLE(ibv_cmd_open_xrcd)
UNREACHABLE(ibv_cmd_poll_cq)
UNREACHABLE(ibv_cmd_post_recv)
UNREACHABLE(ibv_cmd_post_send)
UNREACHABLE(ibv_cmd_post_srq_recv)
UNREACHABLE(ibv_cmd_query_context)
UNREACHABLE(ibv_cmd_query_device_any)
UNREACHABLE(ibv_cmd_query_mr)
UNREACHABLE(ibv_cmd_query_port)
UNREACHABLE(ibv_cmd_query_qp)
UNREACHABLE(ibv_cmd_query_srq)
UNREACHABLE(ibv_cmd_read_counters)
UNREACHABLE(ibv_cmd_reg_dm_mr)
UNREACHABLE(ibv_cmd_reg_dmabuf_mr)
UNREACHABLE(ibv_cmd_reg_mr)
UNREACHABLE(ibv_cmd_req_notify_cq)
UNREACHABLE(ibv_cmd_rereg_mr)
UNREACHABLE(ibv_cmd_resize_cq)
UNREACHABLE(ibv_copy_ah_attr_from_kern)
UNREACHABLE(ibv_copy_path_rec_from_kern)
UNREACHABLE(ibv_copy_path_rec_to_kern)
UNREACHABLE(ibv_copy_qp_attr_from_kern)
UNREACHABLE(ibv_read_ibdev_sysfs_file)
UNREACHABLE(verbs_init_cq)
UNREACHABLE(verbs_open_device)
UNREACHABLE(verbs_set_ops)
UNREACHABLE(verbs_uninit_context)
