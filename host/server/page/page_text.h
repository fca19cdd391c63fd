// The chat page's text, index.html as it was at build time. Constant data; any thread.
#pragma once

#include <string_view>

namespace gainz::host {

std::string_view page_text();

}  // namespace gainz::host
