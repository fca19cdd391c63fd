// Calls: globals, methods, macros (with defaults, varargs, kwargs, caller), recursive loops, joiners.
#include <algorithm>

#include "template/builtins.h"
#include "template/evaluator.h"
#include "template/methods.h"

namespace gainz::jinja {

namespace {

constexpr NameId kCaller = 1, kVarargs = 2, kKwargs = 3;  // as Parser::run interns them

}  // namespace

Value Evaluator::call(const Value& callee, Args& args) {
  if (failed()) return {};
  const Level level(*this);
  if (!level.ok()) return {};
  if (callee.is_undefined()) return undefined_error(callee);
  if (callee.is(Kind::function)) {
    const FunctionRef& function = callee.function();
    if (function.is_method) return call_method(*this, function.self, function.name, args);
    return find_global(function.name)(*this, args);
  }
  if (callee.is(Kind::object)) return call_object(callee, args);
  return error("'" + type_name(callee) + "' object is not callable");
}

Value Evaluator::call_object(const Value& callee, Args& args) {
  if (const auto* macro = callee.object<MacroObject>()) return call_macro(*macro, args);
  if (const auto* loop = callee.object<LoopObject>()) return call_loop(*loop, args);
  if (auto* joiner = callee.object<JoinerObject>()) {
    if (!args.positional.empty() || !args.named.empty()) return error("a joiner takes no arguments");
    if (std::exchange(joiner->used, true)) return joiner->separator;
    return text("");
  }
  return error(std::string("'") + static_cast<const Object*>(callee.ref.get())->type() + "' object is not callable");
}

Value Evaluator::call_loop(const LoopObject& loop, Args& args) {
  if (!loop.recursive) return error("The loop must have the 'recursive' marker to be called recursively.");
  if (args.positional.size() != 1 || !args.named.empty()) return error("a loop takes one argument");
  TextBuilder out(*this);
  TextBuilder* const outer = std::exchange(out_, &out);
  const std::shared_ptr<Scope> scope = std::exchange(scope_, loop.scope);
  run_loop(*loop.recursive, args.positional[0], loop.depth0 + 1);
  scope_ = scope;
  out_ = outer;
  return out.finish();
}

Value Evaluator::call_macro(const MacroObject& object, Args& args) {
  const auto scope = std::make_shared<Scope>(object.scope);
  const std::shared_ptr<Scope> outer_scope = std::exchange(scope_, scope);
  TextBuilder out(*this);
  TextBuilder* const outer = std::exchange(out_, &out);
  if (bind_macro(*object.macro, args, scope.get())) run_body(object.macro->body);
  out_ = outer;
  scope_ = outer_scope;
  return out.finish();
}

bool Evaluator::bind_macro(const MacroStmt& macro, Args& args, Scope* scope) {
  const std::vector<NameId>& names = macro.signature.names;
  std::vector<bool> given(names.size(), false);
  const size_t num_positional = std::min(names.size(), args.positional.size());
  for (size_t k = 0; k < names.size(); ++k) {
    Value value;
    if (k < num_positional) {
      value = args.positional[k];
      given[k] = true;
    } else {
      const auto named = std::find_if(args.named.begin(), args.named.end(),
                                      [&](const auto& arg) { return arg.first == program_.names[names[k]]; });
      if (named != args.named.end()) {
        value = std::move(named->second);
        given[k] = true;
        args.named.erase(named);
      }
    }
    if (Value* twice = scope->find(names[k])) {
      *twice = std::move(value);
    } else {
      declare(scope, names[k], std::move(value));
    }
  }
  return bind_rest(macro, args, num_positional, scope) && bind_defaults(macro, given, scope);
}

bool Evaluator::bind_defaults(const MacroStmt& macro, const std::vector<bool>& given, Scope* scope) {
  const Signature& signature = macro.signature;
  const size_t first_default = signature.names.size() - signature.defaults.size();
  for (size_t k = 0; k < given.size(); ++k) {
    if (given[k]) continue;
    Value value = k >= first_default ? eval(*signature.defaults[k - first_default])
                                     : undefined("parameter '" + program_.names[signature.names[k]] + "' was not provided");
    if (failed()) return false;
    if (Value* variable = scope->find(signature.names[k])) *variable = std::move(value);
  }
  return true;
}

bool Evaluator::bind_rest(const MacroStmt& macro, Args& args, size_t num_positional, Scope* scope) {
  const auto caller = std::find_if(args.named.begin(), args.named.end(), [](const auto& arg) { return arg.first == "caller"; });
  if (macro.uses_caller) {
    Value value = undefined("No caller defined");
    if (caller != args.named.end()) {
      value = std::move(caller->second);
      args.named.erase(caller);
    }
    if (!scope->find(kCaller)) declare(scope, kCaller, std::move(value));
  }
  if (macro.uses_kwargs) {
    DictBuilder named(*this);
    for (auto& [name, value] : args.named) named.set(name, std::move(value));
    if (!scope->find(kKwargs)) declare(scope, kKwargs, named.finish());
  } else if (!args.named.empty()) {
    error("macro '" + macro.name + "' takes no keyword argument '" + args.named.front().first + "'");
  }
  if (macro.uses_varargs) {
    std::vector<Value> rest(args.positional.begin() + static_cast<std::ptrdiff_t>(num_positional), args.positional.end());
    if (!scope->find(kVarargs)) declare(scope, kVarargs, list(std::move(rest), Kind::tuple));
  } else if (args.positional.size() > num_positional) {
    error("macro '" + macro.name + "' takes not more than " + std::to_string(macro.signature.names.size()) + " argument(s)");
  }
  return !failed();
}

}  // namespace gainz::jinja
