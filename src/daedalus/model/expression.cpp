#include "daedalus/model/expression.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "daedalus/model/elaborate.hpp"
#include "daedalus/model/name_check.hpp"

namespace daedalus::model {

namespace {

const Rules outside{.where = "an option",
                    .advice = "it uses coordinates, velocities, other unknowns and parameters",
                    .highest_variable = 1,
                    .highest_auxiliary = 0};
const Rules bound{.where = "a bound", .advice = "use numbers and parameters", .parameters_only = true};

/// The names of a model that was read, for further expressions.
class Names {
 public:
  explicit Names(const Model& model) : elaborator_(*model.graph, [this](const Error& error) { faults_.add(error); }) {
    for (const Parameter& parameter : model.parameters)
      add(Role::parameter, Item::Kind::parameter, parameter.name, parameter.symbol, parameter.value);
    for (const Parameter& value : model.discrete)
      add(Role::discrete, Item::Kind::discrete, value.name, value.symbol, value.value);
    for (const Named& definition : model.definitions)
      add(Role::definition, Item::Kind::expression, definition.name, definition.value);
    for (const Named& input : model.inputs) add(Role::input, Item::Kind::expression, input.name, input.value);
    for (const Unknown& unknown : model.variables)
      elaborator_.add_unknown(add(Role::variable, Item::Kind::symbol, unknown.name, unknown.symbol));
    for (const Unknown& unknown : model.auxiliary)
      elaborator_.add_unknown(add(Role::auxiliary, Item::Kind::symbol, unknown.name, unknown.symbol));
    for (const Named& output : model.outputs) add(Role::output, Item::Kind::expression, output.name, output.value);
    for (const Table& table : model.tables) elaborator_.declare_table(table.name);
  }

  Expr expression(const SyntaxTree& tree, const Rules& rules) {
    const auto report = [this](const Error& error) { faults_.add(error); };
    NameCheck(elaborator_, rules, report).expression(tree);
    faults_.throw_if_any();
    return elaborator_.number(tree, tree.left());
  }
  double constant(const SyntaxTree& tree) {
    expression(tree, bound);
    return elaborator_.constant(tree);
  }

 private:
  /// "K[1,2]" is a member of the family K.
  ItemId add(Role role, Item::Kind kind, const std::string& name, Expr expression, double value = 0.0) {
    Item item;
    item.kind = kind;
    item.state = Item::State::done;
    item.name = name;
    item.value = value;
    item.expression = expression;
    const ItemId id = elaborator_.add(std::move(item));
    const std::size_t bracket = name.find('[');
    const std::string base = name.substr(0, bracket);
    if (name.find('.') != std::string::npos) return id;  // a name that nobody can write
    Entity* entity = elaborator_.find(base);
    if (entity == nullptr) entity = elaborator_.declare(role, base, Place{});
    if (bracket == std::string::npos) {
      entity->scalar = true;
      entity->scalar_item = id;
      return id;
    }
    Indices indices;
    for (const char* at = name.data() + bracket; at < name.data() + name.size() && *at != ']';) {
      std::int64_t index = 0;
      at = std::from_chars(at + 1, name.data() + name.size(), index).ptr;
      indices.push_back(index);
    }
    entity->members[indices] = id;
    return id;
  }

  Faults faults_;
  Elaborator elaborator_;
};

Passage passage_of(const OutsideText& given, std::size_t begin, std::size_t end) {
  const std::string before = given.option + "=";
  const auto source = std::make_shared<const SourceText>(SourceText{"option " + given.option, before + given.text});
  return {std::make_shared<const SourceMap>(source), given.text.substr(begin, end - begin), before.size() + begin};
}

}  // namespace

Expr read_expression(const Model& model, const OutsideText& given) {
  const SyntaxTree tree = parse_expression(passage_of(given, 0, given.text.size()));
  return Names(model).expression(tree, outside);
}

std::vector<Range> read_ranges(const Model& model, const OutsideText& given) {
  Names names(model);
  const std::string& text = given.text;
  std::vector<Range> ranges;
  constexpr std::string_view both = " and ", in = " in ", to = "..";
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(both, begin), text.size());
    const std::size_t is = text.find(in, begin), dots = text.find(to, std::min(is, text.size()));
    if (is >= end || dots >= end)
      throw Error("bad-range", fmt::format("'{}' is no interval", text.substr(begin, end - begin)),
                  "write NAME in LOW..HIGH, and several of them with 'and' between them",
                  passage_of(given, begin, end).place());
    const Expr symbol = names.expression(parse_expression(passage_of(given, begin, is)), outside);
    if (!symbol.is_symbol())
      throw Error("bad-range", fmt::format("'{}' is no unknown", text.substr(begin, is - begin)),
                  "an interval belongs to an unknown or its derivative", passage_of(given, begin, is).place());
    Range range{symbol.name(), names.constant(parse_expression(passage_of(given, is + in.size(), dots))),
                names.constant(parse_expression(passage_of(given, dots + to.size(), end)))};
    if (!(range.low < range.high) || !std::isfinite(range.low) || !std::isfinite(range.high))
      throw Error(
          "bad-range",
          fmt::format("the interval of '{}' from {} to {} is empty or not finite", range.name, range.low, range.high),
          "write the smaller bound first", passage_of(given, begin, end).place());
    for (const Range& other : ranges)
      if (other.name == range.name)
        throw Error("bad-range", fmt::format("'{}' has two intervals", range.name), "give one",
                    passage_of(given, begin, end).place());
    ranges.push_back(range);
    begin = end + both.size();
  }
  return ranges;
}

}  // namespace daedalus::model
