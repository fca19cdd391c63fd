// Walks a Program and writes the text. eval_expr.cc holds expressions, eval_call.cc calls and macros, eval_stmt.cc statements.
// One evaluator is one render on one thread; the Program is shared and only read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "template/ast.h"
#include "template/objects.h"
#include "template/session.h"

namespace gainz::jinja {

class Evaluator final : public Session {
 public:
  explicit Evaluator(const Program& program);
  // A variable of the template's outermost level; one that no template names is dropped.
  void define(std::string_view name, Value value);
  // False: failed, see status().
  bool run(Text* out);

  Value call(const Value& callee, Args& args) override;

 private:
  enum class Flow : uint8_t { on, break_loop, continue_loop };

  // Counts a level of evaluation while it lives; ok() is false, and the session has failed, when there are too many.
  class Level {
   public:
    explicit Level(Evaluator& evaluator);
    ~Level() { --evaluator_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool ok() const { return !evaluator_.failed(); }

   private:
    Evaluator& evaluator_;
  };

  // Expressions.
  Value eval(const Expr& expr);
  Value eval_name(NameId name);
  Value eval_list(const ListExpr& expr);
  Value eval_dict(const DictExpr& expr);
  Value eval_unary(const UnaryExpr& expr);
  Value eval_binary(const BinaryExpr& expr);
  Value eval_concat(const ListedExpr& expr);
  Value eval_compare(const BinaryExpr& expr);
  Value eval_logic(const ListedExpr& expr);
  Value eval_conditional(const ConditionalExpr& expr);
  Value eval_links(const ChainExpr& expr, Value value, size_t count);
  Value eval_slice(const Postfix& link, const Value& value);
  Value eval_call(const CallArgs& args, const Value& callee);
  Value eval_named(const Postfix& link, const Value& value);  // filter, test
  bool eval_args(const CallArgs& args, Args* out);
  bool eval_stars(const CallArgs& args, Args* out);

  // Calls.
  Value call_macro(const MacroObject& object, Args& args);
  bool bind_macro(const MacroStmt& macro, Args& args, Scope* scope);
  bool bind_defaults(const MacroStmt& macro, const std::vector<bool>& given, Scope* scope);
  bool bind_rest(const MacroStmt& macro, Args& args, size_t num_positional, Scope* scope);
  Value call_loop(const LoopObject& loop, Args& args);
  Value call_object(const Value& callee, Args& args);

  // Statements.
  Flow run_body(const Body& body);
  Flow run_stmt(const Stmt& stmt);
  void run_output(const OutputStmt& stmt);
  Flow run_if(const IfStmt& stmt);
  Flow run_for(const ForStmt& stmt);
  Flow run_loop(const ForStmt& stmt, const Value& iterable, int64_t depth0);
  bool keep_items(const ForStmt& stmt, std::vector<Value>* items);  // those that fulfil the loop's condition
  // Whether any iteration came to its end: Jinja runs `else` when each was left by break or continue.
  bool run_iterations(const ForStmt& stmt, LoopObject* loop, const Value& loop_value);
  void run_assign(const AssignStmt& stmt);
  void run_macro(const MacroStmt& stmt);
  void run_call_block(const MacroStmt& stmt);
  void run_filter_block(const FilterStmt& stmt);
  Flow run_with(const WithStmt& stmt);
  Value capture(const Body& body);  // the text of a body in a scope of its own
  void write(const Value& value);
  void assign(const Target& target, Value value);
  void assign_attribute(const Target& target, Value value);
  void set(NameId name, Value value);                    // in the innermost scope
  void declare(Scope* scope, NameId name, Value value);  // REQUIRES: not there yet

  const Program& program_;
  std::shared_ptr<Scope> scope_;
  TextBuilder* out_ = nullptr;
  int depth_ = 0;
};

}  // namespace gainz::jinja
