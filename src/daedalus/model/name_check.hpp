#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daedalus/model/elaborate.hpp"

namespace daedalus::model {

/// What may stand in the expressions of a section.
struct Rules {
  std::string where = {};        ///< "a constraint", for messages
  std::string advice = {};       ///< what to do with something that may not stand there
  bool multipliers = false;      ///< lambda.rod and reaction.rod.x
  bool parameters_only = false;  ///< parameters, functions and definitions of them
  bool signal = false;           ///< known functions of time: no unknowns, no outputs
  bool t_start = false;
  int highest_variable = 100;   ///< highest derivative of a variable
  int highest_auxiliary = 100;  ///< of an auxiliary unknown; -1: none at all
};

/// Checks every name, call and loop of an expression before it is elaborated, so that all faults of it are reported and
/// branches and families that are never written out are checked as well. Gives false if anything is wrong.
class NameCheck {
 public:
  NameCheck(Elaborator& elaborator, const Rules& rules, std::function<void(const Error&)> report)
      : elaborator_(elaborator), rules_(rules), report_(std::move(report)) {}

  /// Names that the expression may use beside those of the model.
  void add_loop(const std::string& name) { loops_.push_back(name); }
  void add_argument(const std::string& name) { arguments_.push_back(name); }

  bool expression(const SyntaxTree& tree);
  bool part(const SyntaxTree& tree, SyntaxId id) { return walk(tree, id, 0); }
  /// The ranges of a family; its indices are known afterwards.
  bool loops(const LoopsSyntax& loops);

 private:
  bool walk(const SyntaxTree& tree, SyntaxId id, int order);
  bool name(const SyntaxTree& tree, const Syntax& node, int order);
  std::string derivative_advice(const std::string& name) const;
  std::string composed_advice(const std::string& name) const;
  bool follows_wrong_differential(const SyntaxTree& tree, const Syntax& node) const;
  bool refuse_order(const SyntaxTree& tree, const Syntax& order);
  bool refuse_rate_of_parameter(const SyntaxTree& tree, const Syntax& node);
  bool dotted(const SyntaxTree& tree, const Syntax& node);
  bool call(const SyntaxTree& tree, const Syntax& node, int order);
  bool role(const Entity& entity, const SyntaxTree& tree, const Syntax& node, int order);
  bool loop_index(const std::string& name, const Place& place);
  bool arguments(const SyntaxTree& tree, const Syntax& node, std::size_t least, std::size_t most);
  bool fault(std::string code, std::string message, std::string advice, const Place& place);

  Elaborator& elaborator_;
  const Rules& rules_;
  std::function<void(const Error&)> report_;
  std::vector<std::string> loops_, arguments_;
  const Syntax* derivative_ = nullptr;  ///< the outermost derivative around what is checked now
};

}  // namespace daedalus::model
