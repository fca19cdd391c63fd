// What pages of other origins may do (the Fetch standard's CORS protocol). No answer ever allows credentials: keys travel in
// headers that a page must know. Pure functions; any thread.
#pragma once

#include <string_view>

#include "server/http/access.h"
#include "server/http_message.h"

namespace gainz::host {

// Whether a browser sent it for a page that may not ask: the origin is neither listed nor the server's own. A page whose name
// was made to point at the loopback address after it was loaded (DNS rebinding) is no page of the server's own, unless keys are
// set.
bool is_foreign_page(const Access& access, const HttpRequest& request, bool is_loopback);

// Of every answer: empty without an allowed origin.
HttpHeaders cors_headers(const Access& access, const HttpRequest& request);
bool is_preflight(const HttpRequest& request);
// allow: the methods of the path.
HttpHeaders preflight_headers(const Access& access, const HttpRequest& request, std::string_view allow);

}  // namespace gainz::host
