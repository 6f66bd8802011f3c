// Absurd input is answered, and soon: within two seconds of processor time and a gigabyte, without a crash. Every case
// runs in a process of its own, so that its time and memory can be measured and a crash is one failed test.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <functional>
#include <random>

#include "cli/run.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/model/reader.hpp"

namespace daedalus {
namespace {

#if defined(__has_feature)  // clang
#if __has_feature(address_sanitizer)
#define DAEDALUS_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)  // gcc
#define DAEDALUS_SANITIZED
#endif

#ifdef DAEDALUS_SANITIZED
constexpr bool measured = false;  // sanitizers cost a factor of ten and more
constexpr double most_seconds = 60.0, most_megabytes = 8000.0;
#else
// On a machine that does other things at the same time processor time nearly doubles: caches are shared.
constexpr bool measured = true;
constexpr double most_seconds = 10.0, most_megabytes = 1000.0;  // 2 s on an idle machine; what grows with the square takes minutes
#endif

struct Answer {
  std::string text;  ///< "read", or the text of the error
  bool crashed = false;
  double seconds = 0.0, megabytes = 0.0;
  std::string code() const {
    const std::size_t from = text.find("error["), to = text.find(']');
    return from == std::string::npos ? text : text.substr(from + 6, to - from - 6);
  }
};

Answer answer_of(const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit time{60, 60};
    setrlimit(RLIMIT_CPU, &time);
    std::string text = "read";
    try {
      work();
    } catch (const Error& error) {
      text = error.what();
    } catch (const std::exception& error) {
      text = std::string("another exception: ") + error.what();
    }
    text.resize(std::min<std::size_t>(text.size(), 60'000));  // fits into a pipe
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  Answer answer;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  answer.crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  answer.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  answer.megabytes = static_cast<double>(used.ru_maxrss) / 1024.0;
  return answer;
}

Answer answer_to(const std::string& text) {
  return answer_of([&] { model::read_model_text(text, "model.toml"); });
}

void expect(const Answer& answer, const std::string& code) {
  EXPECT_FALSE(answer.crashed);
  EXPECT_EQ(answer.code(), code) << answer.text.substr(0, 500);
  EXPECT_LT(answer.seconds, most_seconds);
  EXPECT_LT(answer.megabytes, most_megabytes);
}

std::string times(int n, std::string_view text) {
  std::string result;
  result.reserve(static_cast<std::size_t>(n) * text.size());
  for (int i = 0; i < n; ++i) result += text;
  return result;
}

/// One coordinate with the given potential energy, and what follows it.
std::string with_potential(const std::string& potential, const std::string& rest = {}) {
  return "kind = \"lagrangian\"\n[variables]\nx = 1\n[lagrangian]\nkinetic = \"x'^2/2\"\npotential = \"" + potential +
         "\"\n" + rest;
}

std::string dae(const std::string& variables, const std::string& equations, const std::string& rest = {}) {
  return "kind = \"dae\"\n[variables]\n" + variables + "[equations]\n" + equations + rest;
}

TEST(Absurd, DeepNesting) {
  const int deep = 100'000;
  const Answer parentheses = answer_to(with_potential(times(deep, "(") + "x" + times(deep, ")")));
  expect(parentheses, "too-deep");
  EXPECT_EQ(answer_to(with_potential("\"\"\n" + times(700, "(\n") + "x" + times(700, ")") + "\"\"")).text,
            "model.toml:507:1: error[too-deep]: the expression is nested deeper than 500 levels\n"
            "   507 | (\n"
            "       | ^\n"
            "  -> name parts of it in [definitions]");
  expect(answer_to(with_potential(times(deep, "("))), "too-deep");
  expect(answer_to(with_potential(times(deep, "sin(") + "x" + times(deep, ")"))), "too-deep");
  expect(answer_to(with_potential(times(deep, "if(x > 0, 1, ") + "x" + times(deep, ")"))), "too-deep");
  expect(answer_to(with_potential(times(deep, "x[") + "1" + times(deep, "]"))), "too-deep");
  expect(answer_to(with_potential(times(deep, "x^") + "2")), "too-deep");
  expect(answer_to(with_potential(times(deep, "-") + "x")), "read");
  expect(answer_to(with_potential("if(" + times(deep, "not ") + "x > 0, 1, 2)")), "read");
  expect(answer_to("kind = " + times(deep, "[") + times(deep, "]")), "toml");
  expect(answer_to("kind = " + times(deep, "{ a = ") + "1" + times(deep, "}")), "toml");
  expect(answer_to(times(deep, "a.") + "b = 1"), "toml");
  expect(answer_to("[" + times(deep, "a.") + "b]"), "toml");
}

TEST(Absurd, LargeFiles) {
  if (!measured) GTEST_SKIP() << "too slow with sanitizers";
  expect(answer_to(with_potential("x", times(1'000'000, "# comment\n"))), "read");
  std::string parameters = "[parameters]\n", keys;
  for (int i = 0; i < 300'000; ++i) parameters += "p" + std::to_string(i) + " = " + std::to_string(i) + ".25\n";
  for (int i = 0; i < 700'000; ++i) keys += "key" + std::to_string(i) + " = 1\n";
  expect(answer_to(with_potential("x", parameters)), "read");
  expect(answer_to(with_potential("x", keys)), "too-large");
  expect(answer_to(with_potential("x", "[parameters]\nk = [" + times(2'500'000, "1.5,") + "]\n")), "too-large");
  expect(answer_to(dae("x = 1\n", times(2000, "e = \"x = 1\"\n"))), "duplicate-name");
  std::string faults;
  for (int i = 0; i < 150'000; ++i) faults += "e" + std::to_string(i) + " = \"y" + std::to_string(i) + " = x + z\"\n";
  expect(answer_to(dae("x = 1\n", faults)), "unknown-name");
  expect(answer_to(with_potential(times(10'000'000, "x"))), "unknown-name");
  expect(answer_to(with_potential(times(10'000'000, "@"))), "bad-character");
  expect(answer_to(with_potential(times(10'000'000, "1"))), "number-too-large");
  expect(answer_to(with_potential(times(2'500'000, "x + "))), "incomplete-expression");
  expect(answer_to(dae("x = 1\n", "e = \"" + times(300'000, "q + ") + "q = 0\"\n")), "unknown-name");
}

TEST(Absurd, Rubbish) {
  std::mt19937 random(1);
  std::string bytes(1'000'000, '\0'), letters;
  for (char& c : bytes) c = static_cast<char>(random() & 0xFFU);
  for (const char c : bytes) letters += static_cast<char>(32 + static_cast<unsigned char>(c) % 95);
  expect(answer_to(bytes), "not-text");
  expect(answer_to(std::string(1'000'000, '\0')), "not-text");
  EXPECT_FALSE(answer_to(letters).crashed);
  for (int i = 0; i < 200; ++i) {
    const Answer answer = answer_to(letters.substr(static_cast<std::size_t>(i) * 50, 50));
    EXPECT_FALSE(answer.crashed) << letters.substr(static_cast<std::size_t>(i) * 50, 50);
    EXPECT_FALSE(answer.text.starts_with("another")) << answer.text;
  }
  expect(answer_to(times(99'999, "\"")), "toml");
  expect(answer_to(times(99'999, "'")), "toml");
  expect(answer_to(with_potential("x\n")), "toml");
  expect(answer_to("name = \"\"\"" + times(100'000, "never closed\n")), "toml");
}

TEST(Absurd, Encodings) {
  const std::string good = with_potential("x");
  expect(answer_to("\xEF\xBB\xBF" + good), "read");
  std::string windows;
  for (const char c : good) windows += c == '\n' ? "\r\n" : std::string(1, c);
  expect(answer_to(windows), "read");
  std::string mac = good;
  for (char& c : mac) c = c == '\n' ? '\r' : c;
  expect(answer_to(mac), "toml");
  std::string wide = "\xFF\xFE";
  for (const char c : good) wide += std::string{c, '\0'};
  expect(answer_to(wide), "not-text");
  expect(answer_to(with_potential(std::string("x\0y", 3))), "not-text");
}

TEST(Absurd, Files) {
  const tests::Folder folder;
  const auto reading = [](const std::string& path) { return answer_of([&] { model::read_model(path); }); };
  expect(reading(folder.file(".")), "file-not-found");
  expect(reading(folder.file("no.toml")), "file-not-found");
  expect(reading(folder.write("empty.toml", "")), "missing-kind");
  expect(reading(folder.write("blank.toml", "\n\n  \n")), "missing-kind");
  expect(reading(folder.write("comments.toml", "# nothing\n# here\n")), "missing-kind");
  expect(reading("/dev/null"), "missing-kind");
  if (geteuid() != 0) {  // root may read everything
    const std::string hidden = folder.write("hidden.toml", with_potential("x"));
    std::filesystem::permissions(hidden, std::filesystem::perms::none);
    expect(reading(hidden), "file-not-found");
  }
}

TEST(Absurd, Families) {
  const std::string equation = "e = \"1 = 1\"\n";
  expect(answer_to(dae("\"x[i]\" = { for = \"i in 1..1000000000\" }\n", equation)), "too-many-members");
  expect(answer_to(dae("\"x[i,j]\" = { for = \"i in 1..31623, j in 1..31623\" }\n", equation)), "too-many-members");
  expect(answer_to(dae("\"x[i,j]\" = { for = \"i in 1..1000000000, j in 1..0\" }\n", equation)), "too-many-members");
  expect(answer_to(with_potential("x", "[drawing.points]\n\"p[i]\" = { for = \"i in 1..1000000000\", at = [\"x\", \"i\"] }\n")),
         "too-many-members");
  expect(answer_to(dae("\"x[i]\" = { for = \"i in 1..100000\" }\n",
                       "\"e[i]\" = { for = \"i in 1..100000\", equation = \"der(x[i]) = -x[i]\" }\n")),
         "read");
  std::string families;
  for (const char name : {'a', 'b', 'c', 'd', 'e'})
    families += std::string("\"") + name + "[i]\" = { for = \"i in 1..200000\" }\n";
  expect(answer_to(dae(families, equation)), "too-large");
}

TEST(Absurd, RecursionInDefinitions) {
  expect(answer_to(with_potential("p", "[definitions]\np = \"p + 1\"\n")), "cycle");
  expect(answer_to(with_potential("p", "[definitions]\np = \"q + 1\"\nq = \"2*p\"\n")), "cycle");
  expect(answer_to(with_potential("p[5]", "[definitions]\n\"p[i]\" = { for = \"i in 1..10\", value = \"p[11 - i]\" }\n")),
         "cycle");
  expect(answer_to(with_potential(
             "p[1]", "[definitions]\n\"p[i]\" = { for = \"i in 1..50000\", value = \"p[if(i == 50000, 1, i + 1)] + 1\" }\n")),
         "cycle");
  expect(answer_to(with_potential("f(x)", "[definitions]\n\"f(u)\" = \"g(u) + 1\"\n\"g(u)\" = \"f(u)*2\"\n")), "cycle");
  expect(answer_to(with_potential("x", "[parameters]\na = \"b\"\nb = \"a\"\n")), "cycle");
  std::string chain = "[definitions]\nd0 = \"x\"\n", doubling = "[definitions]\n\"f0(u)\" = \"sin(u)\"\n",
              same = "[definitions]\n\"f0(u)\" = \"u\"\n";
  for (int i = 1; i <= 50'000; ++i) chain += fmt::format("d{} = \"sin(d{})\"\n", i, i - 1);
  for (int i = 1; i <= 40; ++i) {
    doubling += fmt::format("\"f{}(u)\" = \"f{}(u + 1) + f{}(2*u)\"\n", i, i - 1, i - 1);
    same += fmt::format("\"f{}(u)\" = \"f{}(u) + f{}(u)\"\n", i, i - 1, i - 1);
  }
  expect(answer_to(with_potential("d50000", chain)), "read");
  expect(answer_to(with_potential("f40(x)", doubling)), "too-large");
  expect(answer_to(with_potential("f40(x)", same)), "too-large");
  expect(answer_to(with_potential("x", "[outputs]\no = \"der(sin(t)^3*exp(cos(t)*t), 100)\"\n")), "too-large");
}

TEST(Absurd, LongSums) {
  if (!measured) GTEST_SKIP() << "too slow with sanitizers";
  expect(answer_to(with_potential("sum(i in 1..1000000, x^2)")), "read");
  expect(answer_to(with_potential("x*sum(i in 1..1000000, 1/i^2)")), "read");
  const Answer waves = answer_to(with_potential("sum(i in 1..1000000, sin(i*x))"));
  expect(waves, "too-large");
  EXPECT_EQ(waves.text,
            "model.toml:6:35: error[too-large]: the model is too large: written out it has more than 2000000 parts\n"
            "     6 | potential = \"sum(i in 1..1000000, sin(i*x))\"\n"
            "       |                                   ^~~~~~~~\n"
            "  -> check the bounds of families and sums; a name in [definitions] avoids writing out the same part again");
  expect(answer_to(with_potential("sum(i in 1..1000000000, sin(i*x))")), "too-many-members");
  expect(answer_to(with_potential("sum(i in 1..1000, j in 1..1000, k in 1..1000, x*i*j*k)")), "too-large");
  expect(answer_to(with_potential("x*sum(i in 1..1000, j in 1..1000, k in 1..1000, i)")), "read");
  expect(answer_to(with_potential("x*sum(i in 1..1000, j in 1..1000, k in 1..1000, i*j*k)")), "too-large");
  expect(answer_to(with_potential(times(1'000'000, "x+") + "x")), "read");
  expect(answer_to(with_potential(times(500'000, "x*") + "x")), "read");
}

}  // namespace
}  // namespace daedalus
