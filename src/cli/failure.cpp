#include "cli/command.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/solve/culprit.hpp"

namespace daedalus::cli {

void tell_failure(const std::string& code, const std::string& message, const std::string& advice, const model::Model& model) {
  tell(std::string(Error(code, message, advice, solve::place_of_culprit(message, model)).what()) + "\n");
}

}  // namespace daedalus::cli
