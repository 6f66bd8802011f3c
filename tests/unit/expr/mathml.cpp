#include "daedalus/expr/mathml.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace daedalus::expr {
namespace {

/// Whether every element that is opened is closed in order, attributes are quoted, and & begins a known entity.
bool well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '&') {
      const std::size_t end = text.find(';', at);
      if (end == std::string::npos || end > at + 8) return false;
      at = end + 1;
      continue;
    }
    if (text[at] == '>') return false;
    if (text[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.find('<') != std::string::npos || std::count(tag.begin(), tag.end(), '"') % 2 != 0) return false;
    if (tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

/// Number of elements that stand beside each other at the top.
std::size_t top_elements(const std::string& text) {
  std::size_t depth = 0, count = 0;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    if (text[at + 1] == '/') {
      --depth;
    } else {
      if (depth == 0) ++count;
      if (text[text.find('>', at) - 1] != '/') ++depth;
    }
  }
  return count;
}

struct MathmlTest : testing::Test {
  Graph graph;
  Expr a = graph.symbol("a"), b = graph.symbol("b"), x = graph.symbol("x");
};

TEST_F(MathmlTest, Operators) {
  EXPECT_EQ(to_mathml(a + b), "<mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>");
  EXPECT_EQ(
      to_mathml(a - (b - x)),
      "<mrow><mi>a</mi><mo>−</mo><mrow><mo>(</mo><mrow><mi>b</mi><mo>−</mo><mi>x</mi></mrow><mo>)</mo></mrow></mrow>");
  EXPECT_EQ(to_mathml(a / (b + x)), "<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mi>x</mi></mrow></mfrac>");
  EXPECT_EQ(to_mathml(pow(x, 2.0)), "<msup><mi>x</mi><mn>2</mn></msup>");
  EXPECT_EQ(to_mathml(pow(a / b, 2.5)),
            "<msup><mrow><mo>(</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>)</mo></mrow><mn>2.5</mn></msup>");
  EXPECT_EQ(to_mathml(-x), "<mrow><mo>−</mo><mi>x</mi></mrow>");
  EXPECT_EQ(to_mathml(sqrt(x)), "<msqrt><mi>x</mi></msqrt>");
  EXPECT_EQ(to_mathml(sin(x)), "<mrow><mi>sin</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow></mrow>");
  EXPECT_EQ(to_mathml(graph.make(Op::equal, graph.make(Op::logical_not, a), b)),
            "<mrow><mrow><mo>(</mo><mrow><mo>¬</mo><mi>a</mi></mrow><mo>)</mo></mrow><mo>=</mo><mi>b</mi></mrow>");
  EXPECT_EQ(to_mathml(graph.make(Op::less, a, b)), "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>");
}

TEST_F(MathmlTest, Numbers) {
  EXPECT_EQ(to_mathml(graph.constant(2.5)), "<mn>2.5</mn>");
  EXPECT_EQ(to_mathml(graph.constant(-2.0)), "<mrow><mo>−</mo><mn>2</mn></mrow>");
  EXPECT_EQ(to_mathml(graph.constant(1e-30)), "<msup><mn>10</mn><mn>−30</mn></msup>");
  EXPECT_EQ(to_mathml(graph.constant(2.5e20)),
            "<mrow><mn>2.5</mn><mo>⋅</mo><msup><mn>10</mn><mn>20</mn></msup></mrow>");
}

TEST(MathmlNames, SubscriptsDotsAndGreek) {
  EXPECT_EQ(name_to_mathml("x"), "<mi>x</mi>");
  EXPECT_EQ(name_to_mathml("theta"), "<mi>θ</mi>");
  EXPECT_EQ(name_to_mathml("theta1"), "<msub><mi>θ</mi><mn>1</mn></msub>");
  EXPECT_EQ(name_to_mathml("x_max"), "<msub><mi>x</mi><mi>max</mi></msub>");
  EXPECT_EQ(name_to_mathml("K[1,2]"), "<msub><mi>K</mi><mrow><mn>1</mn><mo>,</mo><mn>2</mn></mrow></msub>");
  EXPECT_EQ(name_to_mathml("lambda.rod"), "<msub><mi>λ</mi><mi>rod</mi></msub>");
  EXPECT_EQ(name_to_mathml("lambda.rod[3]"), "<msub><mi>λ</mi><mrow><mi>rod</mi><mo>,</mo><mn>3</mn></mrow></msub>");
  EXPECT_EQ(name_to_mathml("lambda.my_rod"), "<msub><mi>λ</mi><mi>my_rod</mi></msub>");
  EXPECT_EQ(name_to_mathml("x_b1"), "<msub><mi>x</mi><msub><mi>b</mi><mn>1</mn></msub></msub>");
  EXPECT_EQ(name_to_mathml("der(x)"), "<mover accent=\"true\"><mi>x</mi><mo>˙</mo></mover>");
  EXPECT_EQ(name_to_mathml("der(x[3],2)"),
            "<msub><mover accent=\"true\"><mi>x</mi><mo>¨</mo></mover><mn>3</mn></msub>");
  EXPECT_EQ(
      name_to_mathml("der(x[1,2])"),
      "<msub><mover accent=\"true\"><mi>x</mi><mo>˙</mo></mover><mrow><mn>1</mn><mo>,</mo><mn>2</mn></mrow></msub>");
  for (const char* odd : {"_", "__x", "x_", "x__y", "a.b.c", "x[", "", "der()", "12"})
    EXPECT_TRUE(well_formed(name_to_mathml(odd))) << odd;
}

TEST(MathmlNames, MarkupIsEscaped) {
  EXPECT_EQ(escape_markup("a < b & \"c\" > 'd'"), "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(name_to_mathml("a<b"), "<mi>a&lt;b</mi>");
}

TEST_F(MathmlTest, EveryOperationIsOneWellFormedElement) {
  for (int op = static_cast<int>(Op::add); op <= static_cast<int>(Op::choose); ++op) {
    const auto operation = static_cast<Op>(op);
    const Expr e = arity(operation) == 1   ? graph.make(operation, a + b)
                   : arity(operation) == 2 ? graph.make(operation, a + b, x / a)
                                           : graph.make(operation, graph.make(Op::less, a, b), x, a);
    const std::string text = to_mathml(e);
    EXPECT_TRUE(well_formed(text)) << name_of(operation) << ": " << text;
    EXPECT_EQ(top_elements(text), 1u) << name_of(operation) << ": " << text;
  }
}

TEST_F(MathmlTest, DeepAndLongExpressionsAreAnswered) {
  Expr deep = x;
  for (int i = 0; i < 3000; ++i) deep = sin(deep + a);
  EXPECT_TRUE(well_formed(to_mathml(deep)));
  Expr shared = x;
  for (int i = 0; i < 100; ++i) shared = sin(shared) * cos(shared);  // written out it would have 2^100 terms
  EXPECT_EQ(to_mathml(shared), "<mtext>(too long to typeset)</mtext>");
}

}  // namespace
}  // namespace daedalus::expr
