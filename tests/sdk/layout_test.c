/* layout_test.c: the size of each struct of the plugin ABI and the offset of each field, on 64-bit machines. A change here is a
 * change of the ABI: before 1.0 it needs a new minor version. Compiling is the test; as C11 (-pedantic) it also proves that the
 * headers are C. */
#include "gainz/sdk/ext_cache.h"
#include "gainz/sdk/ext_vulkan.h"
#include "gainz/sdk/ext_zeroed.h"
#include "gainz/sdk/sdk.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, bytes) _Static_assert(offsetof(type, field) == (bytes), "offset of " #type "." #field)

_Static_assert(sizeof(void*) == 8, "the table below is for 64-bit machines");

SIZE(gainz_error, 16);
FIELD(gainz_error, struct_size, 0);
FIELD(gainz_error, text_capacity, 4);
FIELD(gainz_error, text, 8);

SIZE(gainz_host, 72);
FIELD(gainz_host, struct_size, 0);
FIELD(gainz_host, abi_major, 4);
FIELD(gainz_host, abi_minor, 8);
FIELD(gainz_host, reserved, 12);
FIELD(gainz_host, ctx, 16);
FIELD(gainz_host, allocate, 24);
FIELD(gainz_host, release, 32);
FIELD(gainz_host, log, 40);
FIELD(gainz_host, parallel_for, 48);
FIELD(gainz_host, num_workers, 56);
FIELD(gainz_host, get_extension, 64);

SIZE(gainz_cache, 32);
FIELD(gainz_cache, struct_size, 0);
FIELD(gainz_cache, reserved, 4);
FIELD(gainz_cache, ctx, 8);
FIELD(gainz_cache, load, 16);
FIELD(gainz_cache, store, 24);

SIZE(gainz_zeroed, 24);
FIELD(gainz_zeroed, struct_size, 0);
FIELD(gainz_zeroed, reserved, 4);
FIELD(gainz_zeroed, ctx, 8);
FIELD(gainz_zeroed, allocate, 16);

SIZE(gainz_vulkan, 80);
FIELD(gainz_vulkan, struct_size, 0);
FIELD(gainz_vulkan, features, 4);
FIELD(gainz_vulkan, ctx, 8);
FIELD(gainz_vulkan, get_instance_proc_addr, 16);
FIELD(gainz_vulkan, instance, 24);
FIELD(gainz_vulkan, physical_device, 32);
FIELD(gainz_vulkan, device, 40);
FIELD(gainz_vulkan, queue, 48);
FIELD(gainz_vulkan, queue_family, 56);
FIELD(gainz_vulkan, reserved, 60);
FIELD(gainz_vulkan, lock, 64);
FIELD(gainz_vulkan, unlock, 72);

SIZE(gainz_value, 56);
FIELD(gainz_value, struct_size, 0);
FIELD(gainz_value, kind, 4);
FIELD(gainz_value, type, 8);
FIELD(gainz_value, rows, 12);
FIELD(gainz_value, dims, 16);
FIELD(gainz_value, name, 48);

SIZE(gainz_node, 64);
FIELD(gainz_node, struct_size, 0);
FIELD(gainz_node, op, 4);
FIELD(gainz_node, num_inputs, 8);
FIELD(gainz_node, num_outputs, 12);
FIELD(gainz_node, inputs, 16);
FIELD(gainz_node, outputs, 40);
FIELD(gainz_node, attributes, 48);
FIELD(gainz_node, layer, 56);
FIELD(gainz_node, reserved, 60);

SIZE(gainz_page_group, 24);
FIELD(gainz_page_group, struct_size, 0);
FIELD(gainz_page_group, num_layers, 4);
FIELD(gainz_page_group, num_kv_heads, 8);
FIELD(gainz_page_group, k_head_dim, 12);
FIELD(gainz_page_group, v_head_dim, 16);
FIELD(gainz_page_group, window, 20);

SIZE(gainz_graph, 88);
FIELD(gainz_graph, struct_size, 0);
FIELD(gainz_graph, num_values, 4);
FIELD(gainz_graph, num_nodes, 8);
FIELD(gainz_graph, num_page_groups, 12);
FIELD(gainz_graph, values, 16);
FIELD(gainz_graph, value_stride, 24);
FIELD(gainz_graph, nodes, 32);
FIELD(gainz_graph, node_stride, 40);
FIELD(gainz_graph, page_groups, 48);
FIELD(gainz_graph, page_group_stride, 56);
FIELD(gainz_graph, inputs, 64);
FIELD(gainz_graph, outputs, 72);
FIELD(gainz_graph, num_inputs, 80);
FIELD(gainz_graph, num_outputs, 84);

SIZE(gainz_norm_attr, 12);
FIELD(gainz_norm_attr, struct_size, 0);
FIELD(gainz_norm_attr, num_groups, 4);
FIELD(gainz_norm_attr, epsilon, 8);

SIZE(gainz_rope_attr, 48);
FIELD(gainz_rope_attr, struct_size, 0);
FIELD(gainz_rope_attr, mode, 4);
FIELD(gainz_rope_attr, num_heads, 8);
FIELD(gainz_rope_attr, head_dim, 12);
FIELD(gainz_rope_attr, rotary_dim, 16);
FIELD(gainz_rope_attr, original_context, 20);
FIELD(gainz_rope_attr, base, 24);
FIELD(gainz_rope_attr, freq_scale, 28);
FIELD(gainz_rope_attr, yarn_mix, 32);
FIELD(gainz_rope_attr, yarn_beta_fast, 36);
FIELD(gainz_rope_attr, yarn_beta_slow, 40);
FIELD(gainz_rope_attr, magnitude, 44);

SIZE(gainz_attention_attr, 40);
FIELD(gainz_attention_attr, struct_size, 0);
FIELD(gainz_attention_attr, group, 4);
FIELD(gainz_attention_attr, layer, 8);
FIELD(gainz_attention_attr, num_heads, 12);
FIELD(gainz_attention_attr, num_kv_heads, 16);
FIELD(gainz_attention_attr, k_head_dim, 20);
FIELD(gainz_attention_attr, v_head_dim, 24);
FIELD(gainz_attention_attr, window, 28);
FIELD(gainz_attention_attr, scale, 32);
FIELD(gainz_attention_attr, softcap, 36);

SIZE(gainz_activation_attr, 8);
FIELD(gainz_activation_attr, struct_size, 0);
FIELD(gainz_activation_attr, kind, 4);

SIZE(gainz_scale_attr, 8);
FIELD(gainz_scale_attr, struct_size, 0);
FIELD(gainz_scale_attr, scale, 4);

SIZE(gainz_moe_route_attr, 16);
FIELD(gainz_moe_route_attr, struct_size, 0);
FIELD(gainz_moe_route_attr, num_chosen, 4);
FIELD(gainz_moe_route_attr, normalize, 8);
FIELD(gainz_moe_route_attr, scale, 12);

SIZE(gainz_moe_linear_attr, 12);
FIELD(gainz_moe_linear_attr, struct_size, 0);
FIELD(gainz_moe_linear_attr, num_chosen, 4);
FIELD(gainz_moe_linear_attr, rows_per_token, 8);

SIZE(gainz_top_k_attr, 8);
FIELD(gainz_top_k_attr, struct_size, 0);
FIELD(gainz_top_k_attr, num_chosen, 4);

SIZE(gainz_weights, 40);
FIELD(gainz_weights, struct_size, 0);
FIELD(gainz_weights, reserved, 4);
FIELD(gainz_weights, ctx, 8);
FIELD(gainz_weights, map, 16);
FIELD(gainz_weights, release, 24);
FIELD(gainz_weights, progress, 32);

SIZE(gainz_kv_desc, 24);
FIELD(gainz_kv_desc, struct_size, 0);
FIELD(gainz_kv_desc, k_type, 4);
FIELD(gainz_kv_desc, v_type, 8);
FIELD(gainz_kv_desc, num_groups, 12);
FIELD(gainz_kv_desc, num_pages, 16);

SIZE(gainz_page_copy, 8);
FIELD(gainz_page_copy, source, 0);
FIELD(gainz_page_copy, target, 4);

SIZE(gainz_bucket, 24);
FIELD(gainz_bucket, struct_size, 0);
FIELD(gainz_bucket, max_tokens, 4);
FIELD(gainz_bucket, max_sequences, 8);
FIELD(gainz_bucket, max_output_rows, 12);
FIELD(gainz_bucket, max_pages_per_sequence, 16);
FIELD(gainz_bucket, uniform_query_length, 20);

SIZE(gainz_program_info, 24);
FIELD(gainz_program_info, struct_size, 0);
FIELD(gainz_program_info, num_slices, 4);
FIELD(gainz_program_info, slice_cost, 8);
FIELD(gainz_program_info, memory_bytes, 16);

SIZE(gainz_step_pages, 32);
FIELD(gainz_step_pages, struct_size, 0);
FIELD(gainz_step_pages, reserved, 4);
FIELD(gainz_step_pages, slots, 8);
FIELD(gainz_step_pages, page_table, 16);
FIELD(gainz_step_pages, page_table_stride, 24);

SIZE(gainz_buffer, 24);
FIELD(gainz_buffer, struct_size, 0);
FIELD(gainz_buffer, reserved, 4);
FIELD(gainz_buffer, data, 8);
FIELD(gainz_buffer, row_stride_bytes, 16);

SIZE(gainz_step, 120);
FIELD(gainz_step, struct_size, 0);
FIELD(gainz_step, num_tokens, 4);
FIELD(gainz_step, num_sequences, 8);
FIELD(gainz_step, num_output_rows, 12);
FIELD(gainz_step, tokens, 16);
FIELD(gainz_step, positions, 24);
FIELD(gainz_step, phases, 32);
FIELD(gainz_step, query_offsets, 40);
FIELD(gainz_step, context_lengths, 48);
FIELD(gainz_step, output_rows, 56);
FIELD(gainz_step, pages, 64);
FIELD(gainz_step, pages_stride, 72);
FIELD(gainz_step, logit_masks, 80);
FIELD(gainz_step, logit_mask_stride, 88);
FIELD(gainz_step, inputs, 96);
FIELD(gainz_step, outputs, 104);
FIELD(gainz_step, buffer_stride, 112);

SIZE(gainz_device_desc, 64);
FIELD(gainz_device_desc, struct_size, 0);
FIELD(gainz_device_desc, kind, 4);
FIELD(gainz_device_desc, flags, 8);
FIELD(gainz_device_desc, kv_types, 12);
FIELD(gainz_device_desc, name, 16);
FIELD(gainz_device_desc, isa, 24);
FIELD(gainz_device_desc, identity, 32);
FIELD(gainz_device_desc, memory_bytes, 40);
FIELD(gainz_device_desc, free_bytes, 48);
FIELD(gainz_device_desc, max_slice_us, 56);
FIELD(gainz_device_desc, reserved, 60);

SIZE(gainz_option, 24);
FIELD(gainz_option, struct_size, 0);
FIELD(gainz_option, reserved, 4);
FIELD(gainz_option, key, 8);
FIELD(gainz_option, value, 16);

SIZE(gainz_device_api, 152);
FIELD(gainz_device_api, struct_size, 0);
FIELD(gainz_device_api, reserved, 4);
FIELD(gainz_device_api, close, 8);
FIELD(gainz_device_api, describe, 16);
FIELD(gainz_device_api, model_claim, 24);
FIELD(gainz_device_api, model_create, 32);
FIELD(gainz_device_api, model_destroy, 40);
FIELD(gainz_device_api, model_memory, 48);
FIELD(gainz_device_api, kv_create, 56);
FIELD(gainz_device_api, kv_destroy, 64);
FIELD(gainz_device_api, kv_copy_pages, 72);
FIELD(gainz_device_api, kv_export_page, 80);
FIELD(gainz_device_api, kv_import_page, 88);
FIELD(gainz_device_api, program_create, 96);
FIELD(gainz_device_api, program_destroy, 104);
FIELD(gainz_device_api, program_describe, 112);
FIELD(gainz_device_api, run, 120);
FIELD(gainz_device_api, poll, 128);
FIELD(gainz_device_api, wait, 136);
FIELD(gainz_device_api, get_extension, 144);

SIZE(gainz_plugin, 64);
FIELD(gainz_plugin, struct_size, 0);
FIELD(gainz_plugin, abi_major, 4);
FIELD(gainz_plugin, abi_minor, 8);
FIELD(gainz_plugin, reserved, 12);
FIELD(gainz_plugin, name, 16);
FIELD(gainz_plugin, version, 24);
FIELD(gainz_plugin, vendor, 32);
FIELD(gainz_plugin, device_list, 40);
FIELD(gainz_plugin, device_open, 48);
FIELD(gainz_plugin, get_extension, 56);

int main(void) { return 0; }
