// The functions that a template finds without being given them: range, dict, namespace, cycler, joiner, raise_exception,
// strftime_now.
#include <algorithm>
#include <ctime>

#include "template/builtins.h"
#include "template/format.h"
#include "template/limits.h"
#include "template/objects.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

Value make_range(Session& session, Args& args) {
  const size_t n = args.positional.size();
  if (!args.named.empty() || n < 1 || n > 3) return session.error("range takes one to three integers");
  for (const Value& arg : args.positional) {
    if (arg.is_undefined()) return session.undefined_error(arg);
    if (!arg.is_int()) return session.error("'" + type_name(arg) + "' object cannot be interpreted as an integer");
  }
  const int64_t start = n > 1 ? args.positional[0].as_int() : 0;
  const int64_t stop = args.positional[n > 1 ? 1 : 0].as_int();
  const int64_t step = n > 2 ? args.positional[2].as_int() : 1;
  if (step == 0) return session.error("range() arg 3 must not be zero");
  if (static_cast<__int128>(step > 0 ? stop : start) - (step > 0 ? start : stop) >
      static_cast<__int128>(kMaxRangeItems) * (step > 0 ? step : -static_cast<__int128>(step))) {
    return session.over("items of a range", kMaxRangeItems);
  }
  Value value;
  value.kind = Kind::range;
  value.ref = std::make_shared<RangeRef>(start, stop, step);
  return value;
}

// What dict() takes: a mapping or pairs, then names.
Value make_dict(Session& session, Args& args) {
  if (args.positional.size() > 1) return session.error("dict expected at most 1 argument");
  DictBuilder dict(session);
  if (!args.positional.empty()) {
    const Value& first = args.positional[0];
    std::vector<Value> items;
    if (first.is(Kind::dict)) {
      if (!session.step(first.dict().entries.size())) return {};
      for (const auto& [key, value] : first.dict().entries) dict.set(key, value);
    } else if (!iterate(session, first, &items)) {
      return {};
    }
    for (const Value& item : items) {
      std::vector<Value> pair;
      if (!iterate(session, item, &pair)) return {};
      if (pair.size() != 2) return session.error("dict: an element is not a pair");
      if (!dict.set(pair[0], pair[1])) return {};
    }
  }
  for (auto& [name, value] : args.named) dict.set(name, std::move(value));
  return dict.finish();
}

Value make_namespace(Session& session, Args& args) {
  const Value dict = make_dict(session, args);
  if (session.failed()) return {};
  auto space = std::make_shared<NamespaceObject>();
  for (const auto& [key, value] : dict.dict().entries) {
    if (key.is_text()) space->attributes.emplace_back(key.text().bytes(), value);
  }
  const size_t n = space->attributes.size() * 2 * sizeof(Value);
  NamespaceObject* raw = space.get();
  Value result = session.adopt(std::move(space));
  if (session.take(n)) raw->charge.num_bytes += n;
  return result;
}

Value make_cycler(Session& session, Args& args) {
  if (args.positional.empty() || !args.named.empty()) return session.error("at least one item has to be provided");
  auto cycler = std::make_shared<CyclerObject>();
  cycler->items = std::move(args.positional);
  return session.adopt(std::move(cycler));
}

Value make_joiner(Session& session, Args& args) {
  Bound a(session, "joiner", args, {"sep"});
  if (!a.ok()) return {};
  auto joiner = std::make_shared<JoinerObject>();
  joiner->separator = a.has(0) ? a[0] : session.text(", ");
  return session.adopt(std::move(joiner));
}

Value raise_exception(Session& session, Args& args) {
  Bound a(session, "raise_exception", args, {"message"}, 1);
  if (!a.ok()) return {};
  const Value text = to_str(session, a[0]);
  return session.failed() ? Value() : session.raise(text.text().bytes());
}

Value strftime_now(Session& session, Args& args) {
  Bound a(session, "strftime_now", args, {"format"}, 1);
  if (!a.ok()) return {};
  const Text format = a.text(0, "");
  if (!a.ok()) return {};
  const auto seconds = static_cast<time_t>(session.now_unix_s);
  std::tm utc{};
  if (!gmtime_r(&seconds, &utc)) return session.error("the time is out of range");
  TextBuilder out(session);
  const std::string_view view = format.view();
  for (size_t at = 0; at < view.size();) {
    if (view[at] != '%' || at + 1 >= view.size()) {
      out.add(format, at, at + 1);
      ++at;
      continue;
    }
    size_t end = at + 2;
    if ((view[at + 1] == '-' || view[at + 1] == '_') && end < view.size()) ++end;  // glibc's flags, as Python passes them on
    const std::string directive = std::string(view.substr(at, end - at));
    char buffer[128];
    if (directive == "%f") {
      out.add("000000");
    } else if (directive != "%z" && directive != "%Z") {  // a time without a zone shows none
      out.add(std::string_view(buffer, std::strftime(buffer, sizeof buffer, directive.c_str(), &utc)), format.user_in(at, end));
    }
    at = end;
  }
  return out.finish();
}

constexpr Entry<Global> kGlobals[] = {
    {"cycler", make_cycler},        {"dict", make_dict},   {"joiner", make_joiner},
    {"namespace", make_namespace},  {"range", make_range}, {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
};

}  // namespace

Global find_global(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kGlobals), std::end(kGlobals), [&](const auto& entry) { return entry.name == name; });
  return found == std::end(kGlobals) ? nullptr : found->function;
}

}  // namespace gainz::jinja
