// The values that can change and so can hold themselves: namespaces, macros, loops, cyclers, joiners. The session owns them and
// clears them when it ends, one by one, so that no circle leaks and no chain is freed by deep recursion.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "template/ast.h"
#include "template/value.h"

namespace gainz::jinja {

struct Object : Ref {
  virtual void clear() = 0;
  virtual const char* type() const = 0;
  Charge charge;
};

// Variables of one block; the parent is the block around it in the source.
struct Scope {
  explicit Scope(std::shared_ptr<Scope> p) : parent(std::move(p)) {}
  Value* find(NameId name) {
    for (auto& variable : variables) {
      if (variable.first == name) return &variable.second;
    }
    return nullptr;
  }
  std::vector<std::pair<NameId, Value>> variables;
  std::shared_ptr<Scope> parent;
  Charge charge;
};

struct NamespaceObject final : Object {
  void clear() override { attributes.clear(); }
  const char* type() const override { return "Namespace"; }
  std::vector<std::pair<std::string, Value>> attributes;
};

struct MacroObject final : Object {
  void clear() override { scope.reset(); }
  const char* type() const override { return "Macro"; }
  const MacroStmt* macro = nullptr;
  std::shared_ptr<Scope> scope;  // where it was defined
};

struct LoopObject final : Object {
  void clear() override {
    items.clear();
    changed.clear();
    scope.reset();
  }
  const char* type() const override { return "LoopContext"; }
  std::vector<Value> items;
  size_t index0 = 0;
  int64_t depth0 = 0;
  const ForStmt* recursive = nullptr;  // may be called
  std::shared_ptr<Scope> scope;        // around a recursive loop
  std::vector<Value> changed;          // the last arguments of loop.changed
  bool has_changed = false;
};

struct CyclerObject final : Object {
  void clear() override { items.clear(); }
  const char* type() const override { return "Cycler"; }
  std::vector<Value> items;
  size_t position = 0;
};

struct JoinerObject final : Object {
  void clear() override { separator = Value(); }
  const char* type() const override { return "Joiner"; }
  Value separator;
  bool used = false;
};

}  // namespace gainz::jinja
