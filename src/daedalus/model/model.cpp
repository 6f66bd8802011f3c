#include "daedalus/model/model.hpp"

namespace daedalus::model {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::lagrangian:
      return "lagrangian";
    case Kind::mechanical:
      return "mechanical";
    case Kind::dae:
      return "dae";
    case Kind::linear:
      return "linear";
  }
  return "unknown";
}

std::shared_ptr<const expr::Interpolant> interpolant_of(const Table& table) {
  using Method = expr::Interpolant::Method;
  using Outside = expr::Interpolant::Outside;
  const Method method = table.interpolation == "step"       ? Method::step
                        : table.interpolation == "monotone" ? Method::monotone
                        : table.interpolation == "spline"   ? Method::spline
                                                            : Method::linear;
  const Outside outside = table.outside == "error"      ? Outside::error
                          : table.outside == "periodic" ? Outside::periodic
                                                        : Outside::hold;
  return std::make_shared<const expr::Interpolant>(table.x, table.y, method, outside);
}

std::unordered_map<NodeId, double> Model::numbers() const {
  std::unordered_map<NodeId, double> result;
  for (const Parameter& parameter : parameters) result[parameter.symbol.id()] = parameter.value;
  for (const Parameter& value : discrete) result[value.symbol.id()] = value.value;
  return result;
}

std::string derivative_name(const std::string& name, std::size_t times) {
  if (times == 0) return name;
  if (times == 1) return "der(" + name + ")";
  return "der(" + name + "," + std::to_string(times) + ")";
}

std::string reaction_name(const std::string& constraint, const std::string& coordinate) {
  return "reaction." + constraint + "." + coordinate;
}

}  // namespace daedalus::model
