// Joins the tables of all APIs.
#include "server/router.h"

namespace gainz::host {

Router make_router() { return Router({openai_routes(), responses_routes(), ollama_routes(), plain_routes(), page_routes()}); }

}  // namespace gainz::host
