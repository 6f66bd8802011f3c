#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace daedalus {

/// A fault of ours, not of the user and not of nature. The command line ends with status 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace daedalus

/// Always-on check of something that must be true whatever the input; prints its values.
#define DAEDALUS_CHECK(condition, ...)                                                          \
  do {                                                                                          \
    if (!(condition)) [[unlikely]]                                                              \
      throw ::daedalus::InternalError(fmt::format("{}:{}: {} ({})", __FILE__, __LINE__, #condition, \
                                                  fmt::format(__VA_ARGS__)));                   \
  } while (false)
