#include "server/http_message.h"

namespace gainz::host {

std::string_view HttpRequest::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return value;
  }
  return {};
}

}  // namespace gainz::host
