#include "daedalus/model/syntax.hpp"

#include <fmt/format.h>

#include <utility>

#include "daedalus/model/lexer.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

namespace {

constexpr int deepest = 500;  ///< nested parentheses, functions and powers

bool is_callable(std::string_view word) {
  return find_builtin(word) != nullptr || word == "der" || word == "if" || word == "sum" || word == "product";
}

bool is_keyword(std::string_view word) { return word == "in" || word == "and" || word == "or" || word == "not"; }

}  // namespace

/// Recursive descent. It recurses only on nesting, which is limited; length is handled by loops.
class Parser {
 public:
  explicit Parser(const Passage& passage) : tokens_(tokens_of(passage)) { tree_.passage_ = passage; }

  SyntaxTree expression() {
    begin();
    tree_.left_ = logical_or();
    if (peek().kind == TokenKind::equals)
      fault("unexpected-equals", peek(), "an expression is expected here, not an equation: found '='",
            "write the expression alone; compare with '=='");
    finish();
    return std::move(tree_);
  }

  SyntaxTree equation() {
    begin();
    tree_.left_ = logical_or();
    if (tree_[tree_.left_].kind == SyntaxKind::compare && peek().kind == TokenKind::end &&
        tree_.name(tree_[tree_.left_]) == "==")
      throw Error("two-equals", "an equation has a single '=' between its sides: found '=='", "write 'a = b'",
                  tree_.place(tree_[tree_.left_]));
    if (tree_[tree_.left_].kind == SyntaxKind::compare && peek().kind == TokenKind::end)
      throw Error("inequality",
                  fmt::format("an equation is expected here, not an inequality: found '{}'",
                              tree_.name(tree_[tree_.left_])),
                  "write 'a = b'; what happens at a bound is an event in [events]", tree_.place(tree_[tree_.left_]));
    if (accept(TokenKind::equals)) {
      if (peek().kind == TokenKind::end)
        fault("incomplete-expression", peek(), "the right side of the equation is missing", "write 'a = b'");
      tree_.right_ = logical_or();
      tree_.has_right_ = true;
      if (peek().kind == TokenKind::equals)
        fault("two-equals", peek(), "an equation has a single '=' between its sides: found a second one",
              "write two equations, or '==' inside a condition");
    }
    finish();
    return std::move(tree_);
  }

  LoopsSyntax loops() {
    begin();
    LoopsSyntax result;
    do result.loops.push_back(loop());
    while (accept(TokenKind::comma));
    finish();
    result.tree = std::move(tree_);
    return result;
  }

 private:
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() {
    const Token& token = tokens_[at_];
    if (token.kind != TokenKind::end) ++at_;
    return token;
  }
  bool accept(TokenKind kind) {
    if (peek().kind != kind) return false;
    take();
    return true;
  }
  std::string_view text(const Token& token) const {
    return std::string_view(tree_.passage_.text()).substr(token.begin, token.end - token.begin);
  }
  std::string shown(const Token& token) const {
    return token.kind == TokenKind::end ? "the end of the expression" : fmt::format("'{}'", text(token));
  }
  bool is_word(const Token& token, std::string_view word) const {
    return token.kind == TokenKind::name && text(token) == word;
  }

  [[noreturn]] void fault(std::string code, const Token& token, std::string message, std::string advice = {}) const {
    throw Error(std::move(code), std::move(message), std::move(advice),
                tree_.passage_.place(token.begin, std::max(1U, token.end - token.begin)));
  }

  void begin() const {
    if (peek().kind == TokenKind::end)
      fault("empty-expression", peek(), "the expression is empty", "write 0 if nothing is meant");
  }

  void finish() const {
    if (peek().kind != TokenKind::end) unexpected("the end of the expression");
  }

  void expect(TokenKind kind, std::string_view what) {
    if (!accept(kind)) unexpected(what);
  }

  /// Answers a token that cannot stand here; the commonest reason is an operator left out.
  [[noreturn]] void unexpected(std::string_view wanted) const {
    const Token& token = peek();
    const bool starts_operand = token.kind == TokenKind::number || token.kind == TokenKind::open ||
                                (token.kind == TokenKind::name && !is_keyword(text(token)));
    const bool after_operand =
        at_ > 0 && (tokens_[at_ - 1].kind == TokenKind::number || tokens_[at_ - 1].kind == TokenKind::name ||
                    tokens_[at_ - 1].kind == TokenKind::close || tokens_[at_ - 1].kind == TokenKind::close_bracket ||
                    tokens_[at_ - 1].kind == TokenKind::prime);
    if (starts_operand && after_operand) {
      const Token& before = tokens_[at_ - 1];
      if (before.kind == TokenKind::name && is_callable(text(before)))
        fault("function-without-arguments", before,
              fmt::format("'{}' is a function: its arguments stand in parentheses", text(before)),
              text(before) == "if" ? "write if(condition, a, b)" : fmt::format("write {}({})", text(before), text(token)));
      if (before.kind == TokenKind::number && token.kind == TokenKind::number && before.end == token.begin)
        fault("unexpected-token", token, fmt::format("found {} after the number {}", shown(token), text(before)),
              "a number has one decimal point");
      if (is_word(token, "if"))
        fault("missing-operator", token, fmt::format("'if' cannot follow {}", shown(before)),
              "a choice is written if(condition, a, b)");
      if (before.kind == TokenKind::number && text(token).size() > 1 && text(token)[0] == 'e' &&
          text(token).find_first_not_of("0123456789", 1) == std::string_view::npos)
        fault("missing-operator", token, fmt::format("a blank stands in the number {} {}", text(before), text(token)),
              fmt::format("write {}{}", text(before), text(token)));
      if (inside_call())
        fault("missing-operator", token,
              fmt::format("an operator or a comma is missing between '{}' and {}", text(before), shown(token)),
              "arguments are separated by ',', a product is written with '*'");
      fault("missing-operator", token,
            fmt::format("an operator is missing between '{}' and {}", text(before), shown(token)),
            before.kind == TokenKind::close || before.kind == TokenKind::close_bracket ? "a product is written with '*'"
            : token.kind == TokenKind::open ? fmt::format("a product is written {}*(...)", text(before))
            : peek(1).kind == TokenKind::open ? fmt::format("a product is written {}*{}(...)", text(before), text(token))
            : token.kind == TokenKind::name || token.kind == TokenKind::number
                ? fmt::format("a product is written {}*{}{}", text(before), text(token),
                              unit_advice(std::string_view(tree_.passage_.text()).substr(token.begin)))
                : "a product is written with '*'");
    }
    if (token.kind == TokenKind::prime)
      fault("bad-prime", token, "an apostrophe can follow only a name such as x or x[1]",
            "write der(...) for the derivative of an expression, der(x, 2) for a second one");
    if (token.kind == TokenKind::dot)
      fault("bad-dot", token, "a dot occurs only in generated names such as lambda.rod",
            "names consist of letters, digits and '_'");
    if (token.kind == TokenKind::end && wanted == "')'") {
      fault("missing-parenthesis", tokens_[open_.back()], "this parenthesis is never closed", "add ')'");
    }
    if (token.kind == TokenKind::close && wanted == "the end of the expression")
      fault("missing-parenthesis", token, "this parenthesis was never opened", "remove ')' or add '(' before");
    if (token.kind == TokenKind::equals)
      fault("unexpected-equals", token, fmt::format("found '=', expected {}", wanted),
            "'=' stands only between the two sides of an equation; compare with '=='");
    if (token.kind == TokenKind::comma && at_ > 0 && tokens_[at_ - 1].kind == TokenKind::number &&
        peek(1).kind == TokenKind::number && tokens_[at_ - 1].end == token.begin && token.end == peek(1).begin)
      fault("unexpected-token", token, fmt::format("found ',', expected {}", wanted),
            fmt::format("a decimal point is written {}.{}", text(tokens_[at_ - 1]), text(peek(1))));
    if (token.kind == TokenKind::comma)
      fault("unexpected-token", token, fmt::format("found ',', expected {}", wanted),
            tree_.has_right_ ? "write two equations, each with a name of its own"
                             : "an expression is one number; write every component as an expression of its own");
    const bool compares = token.kind >= TokenKind::less && token.kind <= TokenKind::not_equal;
    if (compares)
      fault("comparison-chain", token, fmt::format("found {} after another comparison", shown(token)),
            "write a < b and b < c");
    fault("unexpected-token", token, fmt::format("found {}, expected {}", shown(token), wanted), other_advice());
  }

  /// Whether the innermost open parenthesis belongs to a function of several arguments.
  bool inside_call() const {
    if (open_.empty() || open_.back() == 0) return false;
    const std::string_view function = text(tokens_[open_.back() - 1]);
    for (const std::string_view name : {"atan2", "hypot", "min", "max", "if", "der"})
      if (function == name) return true;
    return false;
  }

  /// What to do about a token for which there is no special answer.
  std::string other_advice() const {
    const TokenKind kind = peek().kind, before = at_ > 0 ? tokens_[at_ - 1].kind : TokenKind::end;
    if (kind == TokenKind::open_bracket && before == TokenKind::prime)
      return "the index stands before the apostrophe: x[1]'";
    if (kind == TokenKind::open_bracket && before == TokenKind::close_bracket)
      return "several indices stand in one pair of brackets: x[1,2]";
    if (kind == TokenKind::close_bracket || kind == TokenKind::close || kind == TokenKind::open_bracket)
      return "every '(' is closed by ')', every '[' by ']'";
    if (kind == TokenKind::range) return "'..' belongs into a range: i in 1..N";
    return "check what stands before it";
  }

  SyntaxId add(Syntax node, std::span<const SyntaxId> children = {}, std::span<const char> flags = {}) {
    node.first_child = static_cast<std::uint32_t>(tree_.children_.size());
    node.child_count = static_cast<std::uint32_t>(children.size());
    node.first_flag = static_cast<std::uint32_t>(tree_.flags_.size());
    tree_.children_.insert(tree_.children_.end(), children.begin(), children.end());
    tree_.flags_.insert(tree_.flags_.end(), flags.begin(), flags.end());
    tree_.nodes_.push_back(node);
    return static_cast<SyntaxId>(tree_.nodes_.size() - 1);
  }

  std::uint32_t name_number(std::string_view name) {
    // Neighbours often repeat; a full table would cost more than it saves.
    for (std::size_t i = tree_.names_.size(); i > 0 && i + 8 > tree_.names_.size(); --i)
      if (tree_.names_[i - 1] == name) return static_cast<std::uint32_t>(i - 1);
    tree_.names_.emplace_back(name);
    return static_cast<std::uint32_t>(tree_.names_.size() - 1);
  }

  /// Guards one level of nesting.
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++parser.depth_ > deepest)
        parser.fault("too-deep", parser.peek(), fmt::format("the expression is nested deeper than {} levels", deepest),
                     "name parts of it in [definitions]");
    }
    ~Level() { --parser.depth_; }
    Parser& parser;
  };

  std::uint32_t start_of(SyntaxId id) const { return tree_[id].begin; }
  std::uint32_t last_end() const { return tokens_[at_ - 1].end; }

  SyntaxId logical_or() {
    const Level level(*this);
    SyntaxId first = logical_and();
    if (!is_word(peek(), "or")) return first;
    std::vector<SyntaxId> parts{first};
    while (is_word(peek(), "or")) {
      take();
      parts.push_back(logical_and());
    }
    return add({SyntaxKind::logical_or, start_of(first), last_end()}, parts);
  }

  SyntaxId logical_and() {
    SyntaxId first = logical_not();
    if (!is_word(peek(), "and")) return first;
    std::vector<SyntaxId> parts{first};
    while (is_word(peek(), "and")) {
      take();
      parts.push_back(logical_not());
    }
    return add({SyntaxKind::logical_and, start_of(first), last_end()}, parts);
  }

  SyntaxId logical_not() {
    const std::uint32_t from = peek().begin;
    bool negated = false, any = false;
    while (is_word(peek(), "not")) {
      take();
      negated = !negated;
      any = true;
    }
    const SyntaxId part = comparison();
    if (!any) return part;
    const SyntaxId once = add({SyntaxKind::logical_not, from, last_end()}, std::vector{part});
    return negated ? once : add({SyntaxKind::logical_not, from, last_end()}, std::vector{once});
  }

  SyntaxId comparison() {
    const SyntaxId left = sum();
    const TokenKind kind = peek().kind;
    if (kind < TokenKind::less || kind > TokenKind::not_equal) return left;
    Syntax node{SyntaxKind::compare, start_of(left)};
    node.name = name_number(text(take()));
    const SyntaxId right = sum();
    node.end = last_end();
    if (peek().kind >= TokenKind::less && peek().kind <= TokenKind::not_equal) unexpected("the end of the comparison");
    return add(node, std::vector{left, right});
  }

  SyntaxId sum() {
    const SyntaxId first = product();
    if (peek().kind != TokenKind::plus && peek().kind != TokenKind::minus) return first;
    std::vector<SyntaxId> parts{first};
    std::vector<char> signs{'+'};
    while (peek().kind == TokenKind::plus || peek().kind == TokenKind::minus) {
      signs.push_back(take().kind == TokenKind::plus ? '+' : '-');
      parts.push_back(product());
    }
    return add({SyntaxKind::sum, start_of(first), last_end()}, parts, signs);
  }

  SyntaxId product() {
    const SyntaxId first = unary();
    if (peek().kind != TokenKind::times && peek().kind != TokenKind::divide) return first;
    std::vector<SyntaxId> parts{first};
    std::vector<char> signs{'*'};
    while (peek().kind == TokenKind::times || peek().kind == TokenKind::divide) {
      signs.push_back(take().kind == TokenKind::times ? '*' : '/');
      parts.push_back(unary());
    }
    return add({SyntaxKind::product, start_of(first), last_end()}, parts, signs);
  }

  SyntaxId unary() {
    const std::uint32_t from = peek().begin;
    bool negative = false;
    while (peek().kind == TokenKind::plus || peek().kind == TokenKind::minus)
      if (take().kind == TokenKind::minus) negative = !negative;
    const SyntaxId operand = power();
    return negative ? add({SyntaxKind::negate, from, last_end()}, std::vector{operand}) : operand;
  }

  SyntaxId power() {
    const SyntaxId base = postfix();
    if (!accept(TokenKind::power)) return base;
    refuse_power_of_function(base);
    const Level level(*this);
    const SyntaxId exponent = unary();
    return add({SyntaxKind::power, start_of(base), last_end()}, std::vector{base, exponent});
  }

  /// Answers sin^2(x), which means sin(x)^2, and sin^-1(x), which means asin(x).
  void refuse_power_of_function(SyntaxId base) const {
    const Syntax& node = tree_[base];
    if (node.kind != SyntaxKind::name || node.child_count > 0 || find_builtin(tree_.name(node)) == nullptr) return;
    const std::string& name = tree_.name(node);
    std::string advice = name == "exp" ? "write exp(x)" : fmt::format("write {}(x)^2", name);
    if (peek().kind == TokenKind::number) advice = fmt::format("write {}(x)^{}", name, text(peek()));
    if (peek().kind == TokenKind::minus && peek(1).kind == TokenKind::number) {
      advice = fmt::format("write {}(x)^(-{})", name, text(peek(1)));
      if (peek(1).value == 1.0 && find_builtin("a" + name) != nullptr)
        advice = fmt::format("write a{}(x) for the inverse function, 1/{}(x) for the reciprocal", name, name);
    }
    throw Error("function-without-arguments", fmt::format("'{}' is a function and needs its arguments", name),
                std::move(advice), tree_.place(node));
  }

  SyntaxId postfix() {
    const SyntaxId operand = primary();
    if (peek().kind != TokenKind::prime) return operand;
    // "lambda.rod'" is parsed here and refused where the name gets its meaning.
    if (tree_[operand].kind == SyntaxKind::call && !is_callable(tree_.name(tree_[operand])))
      fault("bad-prime", peek(), "an apostrophe can follow only a name such as x or x[1]",
            fmt::format("an index stands in brackets: {}[...]'; the derivative of an expression is der(...)",
                        tree_.name(tree_[operand])));
    if (tree_[operand].kind != SyntaxKind::name && tree_[operand].kind != SyntaxKind::dotted) unexpected("an operator");
    if (tokens_[at_ - 1].kind == TokenKind::close) unexpected("an operator");
    Syntax node{SyntaxKind::prime, start_of(operand)};
    while (accept(TokenKind::prime)) ++node.order;
    node.end = last_end();
    return add(node, std::vector{operand});
  }

  SyntaxId primary() {
    const Token token = peek();
    switch (token.kind) {
      case TokenKind::number: {
        take();
        Syntax node{SyntaxKind::number, token.begin, token.end};
        node.value = token.value;
        return add(node);
      }
      case TokenKind::open: {
        open_.push_back(at_);
        take();
        const SyntaxId inner = logical_or();
        expect(TokenKind::close, "')'");
        open_.pop_back();
        tree_.nodes_[inner].begin = token.begin;
        tree_.nodes_[inner].end = last_end();
        return inner;
      }
      case TokenKind::name: {
        if (is_keyword(text(token)))
          fault("unexpected-token", token,
                fmt::format("'{}' cannot stand here: a number or a name is expected", text(token)),
                text(token) == "in" ? "'in' belongs into sum(i in 1..N, ...)"
                                    : fmt::format("it joins two conditions: x > 0 {} y > 0", text(token)));
        take();
        if (peek().kind == TokenKind::open) return call(token);
        return named(token);
      }
      default:
        break;
    }
    if (token.kind == TokenKind::end)
      fault("incomplete-expression", token, "the expression ends where a number or a name is expected",
            at_ > 0 ? fmt::format("write something after '{}'", text(tokens_[at_ - 1])) : "");
    if (token.kind == TokenKind::open_bracket)
      fault("unexpected-token", token, "found '[' without a name before it",
            "an index follows a name: x[1]; parts are grouped with parentheses");
    std::string advice;
    const bool after_operator = at_ > 0 && ((tokens_[at_ - 1].kind >= TokenKind::plus && tokens_[at_ - 1].kind <= TokenKind::power) ||
                                            tokens_[at_ - 1].kind == TokenKind::equals);
    if (token.kind == TokenKind::equals) advice = "write the left side before '='";
    if (token.kind >= TokenKind::less && token.kind <= TokenKind::not_equal)
      advice = at_ > 0 && tokens_[at_ - 1].kind == TokenKind::minus && token.kind == TokenKind::greater
                   ? "arrows mean nothing here: an equation is written a = b"
                   : fmt::format("write something before '{}'", text(token));
    if (token.kind == TokenKind::range) advice = "'..' belongs into a range: i in 1..N";
    if (token.kind == TokenKind::prime) advice = "names stand without quotes; an apostrophe follows the name: x'";
    if (token.kind == TokenKind::close || token.kind == TokenKind::comma)
      advice = fmt::format("write something {} '{}'", at_ > 0 ? "after" : "before", text(at_ > 0 ? tokens_[at_ - 1] : token));
    if (token.kind >= TokenKind::times && token.kind <= TokenKind::power)
      advice = after_operator ? fmt::format("remove '{}' or '{}'", text(tokens_[at_ - 1]), text(token))
                              : fmt::format("write something before '{}'", text(token));
    fault("unexpected-token", token, fmt::format("found {} where a number or a name is expected", shown(token)), advice);
  }

  /// A name with indices, or a generated name with dots.
  SyntaxId named(const Token& token) {
    const SyntaxId first = indexed(token);
    if (peek().kind != TokenKind::dot || peek().begin != last_end()) return first;
    std::vector<SyntaxId> segments{first};
    while (peek().kind == TokenKind::dot && peek().begin == last_end() && peek(1).kind == TokenKind::name &&
           peek(1).begin == peek().end) {
      take();
      const Token& segment = take();
      segments.push_back(indexed(segment));
    }
    if (peek().kind == TokenKind::dot) unexpected("a name");
    if (peek().kind == TokenKind::open) {
      const std::string_view last = text(tokens_[at_ - 1]);
      throw Error("unknown-function",
                  fmt::format("there is no function '{}'", tree_.passage_.text().substr(token.begin, last_end() - token.begin)),
                  is_callable(last) ? fmt::format("write {}(...)", last) : "names of functions have no dots",
                  tree_.passage_.place(token.begin, last_end() - token.begin));
    }
    return add({SyntaxKind::dotted, token.begin, last_end()}, segments);
  }

  SyntaxId indexed(const Token& token) {
    Syntax node{SyntaxKind::name, token.begin};
    node.name = name_number(text(token));
    std::vector<SyntaxId> indices;
    if (peek().kind == TokenKind::open_bracket) {
      const std::size_t bracket = at_;
      take();
      if (peek().kind == TokenKind::close_bracket)
        fault("unexpected-token", peek(), "the index is missing", "write x[1]");
      do {
        const Level level(*this);
        indices.push_back(sum());
      } while (accept(TokenKind::comma));
      if (peek().kind == TokenKind::end)
        fault("missing-parenthesis", tokens_[bracket], "this bracket is never closed", "add ']'");
      expect(TokenKind::close_bracket, "']'");
    }
    node.end = last_end();
    return add(node, indices);
  }

  SyntaxId call(const Token& token) {
    const std::string_view function = text(token);
    open_.push_back(at_);
    take();
    SyntaxId result = 0;
    if (function == "sum" || function == "product") {
      result = loop_call(token, function == "sum" ? SyntaxKind::loop_sum : SyntaxKind::loop_product);
    } else {
      Syntax node{SyntaxKind::call, token.begin};
      node.name = name_number(function);
      std::vector<SyntaxId> arguments;
      if (peek().kind != TokenKind::close) {
        do arguments.push_back(logical_or());
        while (accept(TokenKind::comma));
      }
      expect(TokenKind::close, "')'");
      node.end = last_end();
      result = add(node, arguments);
    }
    open_.pop_back();
    return result;
  }

  SyntaxId loop_call(const Token& token, SyntaxKind kind) {
    const Level level(*this);
    const LoopSyntax range = loop(fmt::format("{}(i in 1..N, x[i])", text(token)));
    if (!accept(TokenKind::comma)) {
      if (peek().kind == TokenKind::close)
        fault("incomplete-expression", peek(), fmt::format("{} needs an expression after its range", text(token)),
              fmt::format("write {}(i in 1..N, x[i])", text(token)));
      unexpected("','");
    }
    const bool another = peek().kind == TokenKind::name && is_word(peek(1), "in");
    const SyntaxId body = another ? loop_call(token, kind) : logical_or();
    if (!another) expect(TokenKind::close, "')'");
    Syntax node{kind, token.begin, last_end()};
    node.name = name_number(range.name);
    node.order = static_cast<int>(range.begin);
    return add(node, std::vector{range.from, range.to, body});
  }

  LoopSyntax loop(const std::string& example = "i in 1..N") {
    const Token index = peek();
    if (index.kind != TokenKind::name || is_keyword(text(index)) || !is_word(peek(1), "in"))
      fault("bad-range", index, fmt::format("found {} where a range is expected", shown(index)),
            "write " + example);
    take();
    take();
    LoopSyntax result;
    result.name = text(index);
    result.begin = index.begin;
    result.end = index.end;
    result.from = sum();
    if (!accept(TokenKind::range)) {
      if (peek().kind == TokenKind::end || peek().kind == TokenKind::comma || peek().kind == TokenKind::close)
        fault("bad-range", peek(), fmt::format("the range of '{}' has no end", result.name),
              fmt::format("write {} in 1..N", result.name));
      unexpected("'..'");
    }
    result.to = sum();
    return result;
  }

  SyntaxTree tree_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::size_t> open_;  ///< tokens of the parentheses that are open
};

SyntaxTree parse_expression(const Passage& passage) { return Parser(passage).expression(); }
SyntaxTree parse_equation(const Passage& passage) { return Parser(passage).equation(); }
LoopsSyntax parse_loops(const Passage& passage) { return Parser(passage).loops(); }

KeySyntax parse_key(const Passage& passage) {
  KeySyntax key;
  key.tree = parse_expression(passage);
  const SyntaxTree& tree = key.tree;
  const Syntax* node = &tree[tree.left()];
  const auto refuse = [&]() -> KeySyntax {
    throw Error(
        "bad-name", fmt::format("'{}' is not a name", passage.text()),
        "names consist of letters, digits and '_'; also x[i], der(x), der(x,2), x' and f(u) where they make sense",
        passage.place());
  };
  if (node->kind == SyntaxKind::prime) {
    key.form = KeySyntax::Form::derivative;
    key.order = node->order;
    node = &tree[tree.children(*node)[0]];
  } else if (node->kind == SyntaxKind::call && tree.name(*node) == "der") {
    const auto arguments = tree.children(*node);
    key.form = KeySyntax::Form::derivative;
    key.order = 1;
    if (arguments.empty() || arguments.size() > 2) return refuse();
    if (arguments.size() == 2) {
      const Syntax& order = tree[arguments[1]];
      if (order.kind != SyntaxKind::number || order.value < 1.0 || order.value > 100.0 ||
          order.value != static_cast<double>(static_cast<int>(order.value)))
        return refuse();
      key.order = static_cast<int>(order.value);
    }
    node = &tree[arguments[0]];
  } else if (node->kind == SyntaxKind::call) {
    key.form = KeySyntax::Form::function;
    key.base = tree.name(*node);
    for (const SyntaxId argument : tree.children(*node)) {
      if (tree[argument].kind != SyntaxKind::name || tree[argument].child_count > 0) return refuse();
      key.arguments.push_back(tree.name(tree[argument]));
    }
    if (key.arguments.empty()) return refuse();
    return key;
  }
  if (node->kind != SyntaxKind::name) return refuse();
  key.base = tree.name(*node);
  key.has_indices = node->child_count > 0;
  if (key.form == KeySyntax::Form::plain && key.has_indices) key.form = KeySyntax::Form::indexed;
  for (const SyntaxId index : tree.children(*node)) key.indices.push_back(index);
  return key;
}

bool is_name(std::string_view text) {
  if (letter_length(text) == 0 || is_keyword(text)) return false;
  while (!text.empty()) {
    const std::size_t letter = letter_length(text);
    if (letter == 0 && !(text.front() >= '0' && text.front() <= '9')) return false;
    text.remove_prefix(std::max<std::size_t>(letter, 1));
  }
  return true;
}

}  // namespace daedalus::model
