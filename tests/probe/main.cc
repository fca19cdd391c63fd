// Reads one JSON object a line, answers one a line, in order. It never dies of input.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <iostream>

#include "probe/probe.h"

namespace gainz::probe {
namespace {

constexpr size_t kMaxLineBytes = size_t{256} << 20;

constexpr std::pair<std::string_view, Operation> kOperations[] = {
    {"tokenize", tokenize},     {"detokenize", detokenize}, {"render", render}, {"load", load},
    {"logits", logits},         {"generate", generate},     {"embed", embed},   {"sample", sample},
    {"dequantize", dequantize}, {"limits", limits},
};

Status answer_line(Session& session, const std::string& line, json::object& answer) {
  if (line.size() > kMaxLineBytes)
    return {Code::limit_exceeded,
            "a line of " + std::to_string(line.size()) + " bytes, at most " + std::to_string(kMaxLineBytes)};
  json::error_code error;
  json::parse_options options;
  options.max_depth = 128;
  const json::value value = json::parse(line, error, {}, options);
  if (error) return {Code::invalid, "not JSON: " + error.message()};
  if (!value.is_object()) return {Code::invalid, "not a JSON object"};
  const json::object& object = value.get_object();
  if (const json::value* id = object.if_contains("id")) answer["id"] = *id;
  const json::value* op = object.if_contains("op");
  if (!op || !op->is_string()) return {Code::invalid, "op must be a string"};
  for (const auto& [name, operation] : kOperations) {
    if (name != std::string_view(op->get_string())) continue;
    Fields fields(object);
    return operation(session, fields, answer);
  }
  return {Code::invalid, "unknown op \"" + std::string(op->get_string()) + "\""};
}

void serve(std::istream& in, std::ostream& out) {
  Session session;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    json::object answer;
    Status status;
    try {
      status = answer_line(session, line, answer);
    } catch (const std::bad_alloc&) {
      status = Status(Code::out_of_host_memory, "out of host memory");
    } catch (const std::exception& e) {
      status = Status(Code::internal, e.what());
    }
    if (!status.ok()) {
      json::object failed;
      if (const json::value* id = answer.if_contains("id")) failed["id"] = *id;
      failed["error"] = json::object{{"code", gainz_code_name(gainz_code(status.code()))}, {"message", status.message()}};
      answer = std::move(failed);
    }
    out << json::serialize(answer) << '\n' << std::flush;
  }
}

}  // namespace
}  // namespace gainz::probe

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help";
    std::fputs("gainz-probe: reads JSON lines on standard input, answers on standard output (docs/probe.md)\n",
               help ? stdout : stderr);
    return help ? 0 : 2;
  }
  std::ios::sync_with_stdio(false);
  gainz::probe::serve(std::cin, std::cout);
  return 0;
}
