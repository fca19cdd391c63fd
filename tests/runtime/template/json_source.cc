// Boost.JSON's one source file for these tests.
#include <boost/json/src.hpp>
