// The one place where Boost.JSON's own code is compiled.
#include <boost/json/src.hpp>
