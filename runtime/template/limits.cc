#include "template/limits.h"

namespace gainz::jinja {

std::span<const Limit> limits() {
  static constexpr Limit kLimits[] = {
      {"template_bytes", kMaxTemplateBytes},
      {"template_json_bytes", kMaxJsonBytes},
      {"template_nesting", kMaxNesting},
      {"template_expression_height", kMaxExpressionHeight},
      {"template_evaluation_depth", kMaxEvaluationDepth},
      {"template_stack_bytes", kMaxStackBytes},
      {"template_value_depth", kMaxValueDepth},
      {"template_steps", kMaxSteps},
      {"template_bytes_per_step", kBytesPerStep},
      {"template_output_bytes", kMaxOutputBytes},
      {"template_value_bytes", kMaxValueBytes},
      {"template_range_items", static_cast<uint64_t>(kMaxRangeItems)},
  };
  return kLimits;
}

}  // namespace gainz::jinja
