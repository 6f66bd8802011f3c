#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string>

#include "cli/command.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus::cli {

namespace {

volatile std::sig_atomic_t stop_asked = 0;

extern "C" void on_signal(int) {
  if (stop_asked != 0) _exit(interrupted);
  stop_asked = 1;
}

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// "12 s", "3 min 20 s", "5 h 10 min", "40 days".
std::string duration(double s) {
  if (!(s < 8.64e6)) return "more than 100 days";
  const auto whole = static_cast<long>(std::ceil(s));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 2 * 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} days", whole / 86400);
}

}  // namespace

void take_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // nohup ignores the end of the terminal, and so do we then.
  struct sigaction before {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool asked_to_stop() { return stop_asked != 0; }

ProgressLine::ProgressLine(Show show)
    : wanted_(show == Show::on_terminal && isatty(STDERR_FILENO) != 0), begin_(Clock::now()), last_(begin_) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (shown_) tell("\r\033[K");
  shown_ = false;
}

std::optional<double> ProgressLine::due() {
  if (!wanted_) return std::nullopt;
  const auto now = Clock::now();
  const double running = seconds(now - begin_);
  if (running < 1.0 || seconds(now - last_) < 0.1) return std::nullopt;
  last_ = now;
  shown_ = true;
  return running;
}

void ProgressLine::operator()(double t, double t_start, double t_end, double h) {
  const std::optional<double> running = due();
  if (!running) return;
  const double part = (t - t_start) / (t_end - t_start);
  tell(fmt::format("\r\033[K{:3.0f} %  t = {} of {}  step {}{}", std::floor(100.0 * part), brief(t, 5), brief(t_end, 5),
                   brief(h, 2), part > 0.0 ? "  " + duration(*running * (1.0 - part) / part) + " left" : ""));
}

void ProgressLine::count(std::size_t done, std::size_t planned, std::size_t failed) {
  const std::optional<double> running = due();
  if (!running) return;
  const double part = static_cast<double>(done) / static_cast<double>(planned);
  tell(fmt::format("\r\033[K{:3.0f} %  {} of {} runs{}{}", std::floor(100.0 * part), done, planned,
                   failed > 0 ? fmt::format(", {} failed", failed) : "",
                   done > 0 ? "  " + duration(*running * (1.0 - part) / part) + " left" : ""));
}

}  // namespace daedalus::cli
