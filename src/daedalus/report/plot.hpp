#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/model/model.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::report {

/// A line through points; a point that is not finite interrupts it.
struct Curve {
  std::string name;
  std::vector<double> x, y;
};

/// One pair of axes with its curves.
struct Panel {
  enum class Scale { linear, logarithmic };  ///< of y; a logarithmic panel leaves out what is not positive

  std::string x_title = "t", y_title;  ///< in the user's names
  std::string x_unit, y_unit;          ///< as in the model: "m/s^2"; may be empty
  Scale scale = Scale::linear;
  bool over_time = true;  ///< x ascends and is shared with the other panels over time
  bool family = false;    ///< the curves are members of one family, in order
  std::vector<Curve> curves;
  std::vector<std::string> notes;  ///< remarks below the legend
};

/// One figure: panels over time, stacked, then the others.
struct PlotData {
  std::string title, description;  ///< kept in the file, not drawn: a paper has a caption for that
  std::vector<Panel> panels;
  bool logarithmic_time = false;  ///< the run spans decades: what is not after 0 is left out
};

/// Chooses what to draw of a run: variables and derivatives by unit, auxiliary unknowns, multipliers, outputs,
/// residuals of the constraints and the energy error where the trajectory has such columns, and [plots] of the model.
/// With `curves`, names of columns and of [plots], only these.
PlotData plot_data(const solve::Trajectory& trajectory, const model::Model& model,
                   const std::vector<std::string>& curves = {});

/// Throws Error where a name is neither one of the columns nor an entry of [plots].
void require_curves(const std::vector<std::string>& curves, const std::vector<std::string>& columns,
                    const model::Model& model);

/// The figure as a file. Long curves are thinned to what can be seen, so that the size does not grow with the run.
std::string plot_svg(const PlotData& data);
std::string plot_pdf(const PlotData& data);

}  // namespace daedalus::report
