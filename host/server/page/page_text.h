// The chat page's text, index.html with page.css and page.js in it. Constant data; any thread.
#pragma once

#include <string_view>

namespace gainz::host {

std::string_view page_text();

}  // namespace gainz::host
