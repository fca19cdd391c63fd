#include "template/builtins.h"
#include "template/evaluator.h"
#include "template/format.h"
#include "template/limits.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

constexpr NameId kLoop = 0, kCallerName = 1;  // as Parser::run interns them

}  // namespace

Evaluator::Evaluator(const Program& program) : program_(program), scope_(std::make_shared<Scope>(nullptr)) {}

void Evaluator::define(std::string_view name, Value value) {
  const auto found = program_.ids.find(std::string(name));
  if (found != program_.ids.end()) set(found->second, std::move(value));
}

bool Evaluator::run(Text* out) {
  TextBuilder builder(*this);
  out_ = &builder;
  scope_ = std::make_shared<Scope>(scope_);  // what the template sets hides, but does not replace, what it was given
  run_body(program_.body);
  out_ = nullptr;
  *out = std::move(builder.text());
  return !failed();
}

void Evaluator::set(NameId name, Value value) {
  if (Value* found = scope_->find(name)) {
    *found = std::move(value);
  } else {
    declare(scope_.get(), name, std::move(value));
  }
}

void Evaluator::declare(Scope* scope, NameId name, Value value) {
  constexpr size_t kVariableBytes = sizeof(std::pair<NameId, Value>);
  if (!take(kVariableBytes)) return;
  scope->charge.budget = budget();
  scope->charge.num_bytes += kVariableBytes;
  scope->variables.emplace_back(name, std::move(value));
}

void Evaluator::write(const Value& value) {
  append_str(*this, *out_, value);
  if (out_->size() > kMaxOutputBytes) over("bytes of output", kMaxOutputBytes);
}

Evaluator::Flow Evaluator::run_body(const Body& body) {
  for (const StmtPtr& stmt : body) {
    const Flow flow = run_stmt(*stmt);
    if (failed() || flow != Flow::on) return flow;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_stmt(const Stmt& stmt) {
  const Level level(*this);
  if (!level.ok()) return Flow::on;
  line = stmt.line;
  switch (stmt.kind) {
    case StmtKind::data:
      out_->add(static_cast<const DataStmt&>(stmt).text);
      if (out_->size() > kMaxOutputBytes) over("bytes of output", kMaxOutputBytes);
      break;
    case StmtKind::output:
      run_output(static_cast<const OutputStmt&>(stmt));
      break;
    case StmtKind::for_loop:
      return run_for(static_cast<const ForStmt&>(stmt));
    case StmtKind::if_else:
      return run_if(static_cast<const IfStmt&>(stmt));
    case StmtKind::assign:
    case StmtKind::assign_block:
      run_assign(static_cast<const AssignStmt&>(stmt));
      break;
    case StmtKind::macro:
      run_macro(static_cast<const MacroStmt&>(stmt));
      break;
    case StmtKind::call_block:
      run_call_block(static_cast<const MacroStmt&>(stmt));
      break;
    case StmtKind::filter_block:
      run_filter_block(static_cast<const FilterStmt&>(stmt));
      break;
    case StmtKind::with:
    case StmtKind::scope:
      return run_with(static_cast<const WithStmt&>(stmt));
    case StmtKind::break_loop:
      return Flow::break_loop;
    case StmtKind::continue_loop:
      return Flow::continue_loop;
  }
  return Flow::on;
}

void Evaluator::run_output(const OutputStmt& stmt) {
  const Value value = eval(*stmt.expr);
  if (!failed()) write(value);
}

Evaluator::Flow Evaluator::run_if(const IfStmt& stmt) {
  for (const auto& [condition, body] : stmt.branches) {
    const bool taken = truth(eval(*condition));
    if (failed()) return Flow::on;
    if (taken) return run_body(body);
  }
  return run_body(stmt.otherwise);
}

Evaluator::Flow Evaluator::run_for(const ForStmt& stmt) {
  const Value iterable = eval(*stmt.iterable);
  return failed() ? Flow::on : run_loop(stmt, iterable, 0);
}

bool Evaluator::keep_items(const ForStmt& stmt, std::vector<Value>* items) {
  const std::shared_ptr<Scope> outer = scope_;
  size_t num_kept = 0;
  for (size_t k = 0; k < items->size() && !failed(); ++k) {
    scope_ = std::make_shared<Scope>(outer);
    assign(stmt.target, (*items)[k]);
    const bool keep = !failed() && truth(eval(*stmt.condition));
    if (keep && num_kept != k) (*items)[num_kept] = std::move((*items)[k]);
    num_kept += keep ? 1 : 0;
  }
  scope_ = outer;
  items->resize(num_kept);
  return !failed();
}

Evaluator::Flow Evaluator::run_loop(const ForStmt& stmt, const Value& iterable, int64_t depth0) {
  auto loop = std::make_shared<LoopObject>();
  if (!iterate(*this, iterable, &loop->items)) return Flow::on;
  if (stmt.condition && !keep_items(stmt, &loop->items)) return Flow::on;
  if (loop->items.empty()) return run_body(stmt.otherwise);
  loop->depth0 = depth0;
  if (stmt.recursive) {
    loop->recursive = &stmt;
    loop->scope = scope_;
  }
  const size_t items_bytes = loop->items.size() * sizeof(Value);
  if (!take(items_bytes)) return Flow::on;
  const bool any_ended = run_iterations(stmt, loop.get(), adopt(loop));
  release(loop);
  if (loop.use_count() == 1) {
    give(items_bytes);
  } else {
    loop->charge.num_bytes += items_bytes;  // something still holds the loop
  }
  return any_ended || failed() ? Flow::on : run_body(stmt.otherwise);
}

bool Evaluator::run_iterations(const ForStmt& stmt, LoopObject* loop, const Value& loop_value) {
  const std::shared_ptr<Scope> outer = scope_;
  bool any_ended = false;
  for (size_t k = 0; k < loop->items.size() && !failed(); ++k) {
    loop->index0 = k;
    scope_ = std::make_shared<Scope>(outer);
    assign(stmt.target, loop->items[k]);
    set(kLoop, loop_value);
    const Flow flow = failed() ? Flow::on : run_body(stmt.body);
    if (flow == Flow::break_loop) break;
    any_ended |= flow == Flow::on;
  }
  scope_ = outer;
  return any_ended;
}

void Evaluator::assign(const Target& target, Value value) {
  if (failed()) return;
  if (target.kind == Target::name) return set(target.id, std::move(value));
  if (target.kind == Target::attribute) return assign_attribute(target, std::move(value));
  std::vector<Value> items;
  if (value.is_undefined() || !iterate(*this, value, &items)) {
    error("cannot unpack '" + type_name(value) + "'");
    return;
  }
  if (items.size() != target.items.size()) {
    error("cannot unpack " + std::to_string(items.size()) + " values into " + std::to_string(target.items.size()));
    return;
  }
  for (size_t k = 0; k < items.size(); ++k) assign(target.items[k], std::move(items[k]));
}

void Evaluator::assign_attribute(const Target& target, Value value) {
  const Value object = eval_name(target.id);
  if (failed()) return;
  auto* space = object.object<NamespaceObject>();
  if (!space) {
    error("cannot assign attribute on non-namespace object");
    return;
  }
  for (auto& attribute : space->attributes) {
    if (attribute.first == target.attribute_name) {
      attribute.second = std::move(value);
      return;
    }
  }
  if (!take(sizeof(Value) + target.attribute_name.size())) return;
  space->charge.num_bytes += sizeof(Value) + target.attribute_name.size();
  space->attributes.emplace_back(target.attribute_name, std::move(value));
}

void Evaluator::run_assign(const AssignStmt& stmt) {
  Value value;
  if (stmt.kind == StmtKind::assign) {
    value = eval(*stmt.value);
  } else {
    value = capture(stmt.body);
    if (stmt.value && !failed()) {
      const auto& filters = static_cast<const ChainExpr&>(*stmt.value);
      value = eval_links(filters, std::move(value), filters.links.size());
    }
  }
  assign(stmt.target, std::move(value));
}

void Evaluator::run_macro(const MacroStmt& stmt) {
  auto macro = std::make_shared<MacroObject>();
  macro->macro = &stmt;
  macro->scope = scope_;
  const Value value = adopt(std::move(macro));
  if (!failed()) set(stmt.id, value);
}

void Evaluator::run_call_block(const MacroStmt& stmt) {
  auto macro = std::make_shared<MacroObject>();
  macro->macro = &stmt;
  macro->scope = scope_;
  const auto& chain = static_cast<const ChainExpr&>(*stmt.call);
  const Value callee = eval_links(chain, eval(*chain.base), chain.links.size() - 1);
  {
    Args args;
    if (failed() || !eval_args(chain.links.back().args, &args)) return;
    args.named.emplace_back(program_.names[kCallerName], adopt(macro));
    const Value result = call(callee, args);
    if (!failed()) write(result);
  }
  release(macro);
}

void Evaluator::run_filter_block(const FilterStmt& stmt) {
  Value value = capture(stmt.body);
  if (failed()) return;
  const auto& filters = static_cast<const ChainExpr&>(*stmt.filters);
  value = eval_links(filters, std::move(value), filters.links.size());
  if (!failed()) write(value);
}

Evaluator::Flow Evaluator::run_with(const WithStmt& stmt) {
  const std::shared_ptr<Scope> outer = scope_;
  const auto inner = std::make_shared<Scope>(outer);
  for (const auto& [target, expr] : stmt.values) {
    Value value = eval(*expr);
    scope_ = inner;
    assign(target, std::move(value));
    scope_ = outer;
  }
  scope_ = inner;
  const Flow flow = failed() ? Flow::on : run_body(stmt.body);
  scope_ = outer;
  return flow;
}

Value Evaluator::capture(const Body& body) {
  TextBuilder out(*this);
  TextBuilder* const outer = std::exchange(out_, &out);
  const std::shared_ptr<Scope> scope = scope_;
  scope_ = std::make_shared<Scope>(scope);
  run_body(body);
  scope_ = scope;
  out_ = outer;
  return out.finish();
}

}  // namespace gainz::jinja
