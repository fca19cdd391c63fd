// The one place where Beast's own code is compiled.
#include <boost/beast/src.hpp>
