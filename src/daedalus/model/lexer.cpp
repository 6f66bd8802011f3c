#include "daedalus/model/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(length, text.size());
}

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
    case 3:
      return (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
    default:
      return (byte(0) & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU);
  }
}

/// Blanks that are copied from pages and are no spaces to a program.
bool is_odd_blank(std::uint32_t code) {
  return code == 0xA0 || (code >= 0x2000 && code <= 0x200F) || code == 0x202F || code == 0x3000 || code == 0xFEFF;
}

/// What to write for a command of LaTeX.
std::string advice_for_latex(std::string_view text) {
  if (text.starts_with("\\frac")) return "a fraction is written (a)/(b)";
  if (text.starts_with("\\dot")) return "a time derivative is written der(x)";
  if (text.starts_with("\\ddot")) return "a second derivative is written der(x, 2)";
  if (text.starts_with("\\cdot") || text.starts_with("\\times")) return "a product is written a*b";
  if (text.starts_with("\\left") || text.starts_with("\\right")) return "write parentheses alone: ( and )";
  for (const std::string_view function : {"sin", "cos", "tan", "exp", "sqrt", "log"})
    if (text.substr(1).starts_with(function)) return fmt::format("write {}(...) without a backslash", function);
  return "write the name of a Greek letter without a backslash: alpha";
}

/// What to write instead of signs that people copy from other languages and from print.
std::string advice_for(std::string_view character, std::string_view rest) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> replacements{{
      {"&", "write 'and'"},
      {"|", "the absolute value is abs(x); in a condition write 'or'"},
      {"!", "write 'not' or '!='"},
      {"\u00B7", "write '*'"},
      {"\u00D7", "write '*'"},
      {"\u2212", "write '-'"},
      {"\u2013", "write '-'"},
      {"\u00F7", "write '/'"},
      {"\u00B2", "write '^2'"},
      {"\u00B3", "write '^3'"},
      {"\u2264", "write '<='"},
      {"\u2265", "write '>='"},
      {"\u2260", "write '!='"},
      {"\u221A", "write sqrt(...)"},
      {"\u2032", "write ' (apostrophe) or der(...)"},
      {"\u2019", "write ' (apostrophe) or der(...)"},
      {"\u2211", "write sum(i in 1..N, ...)"},
      {"\"", "for a second derivative write '' (two apostrophes) or der(x, 2)"},
      {"{", "write parentheses"},
      {"}", "write parentheses"},
      {"%", "5 % is written 0.05, the remainder x - n*floor(x/n)"},
      {"$", "write the expression without dollar signs"},
      {"\u0307", "a time derivative is written der(x) or x'"},
      {"\u0308", "a second derivative is written der(x, 2) or x''"},
  }};
  for (const auto& [sign, advice] : replacements)
    if (sign == character) return std::string(advice);
  if (character == "#") return "a comment stands outside of the quotes";
  if (character == ":") return "a range is written 1..N, a choice if(condition, a, b)";
  if (character == "?") return "a choice is written if(condition, a, b)";
  if (character == "\\") return advice_for_latex(rest);
  if (character == "\u00B0") return "angles are in radians: write 30*pi/180";
  if (character == "\u2202") return "a time derivative is written der(x)";
  if (character == "\u221E") return "there is no such number in a model";
  if (character == "\u222B") return "write a variable whose derivative is the integrand: der(s) = ...";
  if (character == "\u201C" || character == "\u201D" || character == "\u2018") return "write straight quotes";
  const std::uint32_t code = code_point(character);
  if (code == 0x1E8D || code == 0x1E97) return "a second derivative is written der(x, 2) or x''";
  if (code >= 0x1E00 && code <= 0x1EFF) return "a time derivative is written der(x) or x'";  // letters with dots
  if (is_odd_blank(code)) return "write a plain space, or none";
  return "an expression consists of numbers, names, + - * / ^ and parentheses";
}

/// For 1.5d3 and 1.5x10^3, which mean 1.5e3.
std::optional<std::string> exponent_advice(std::string_view number, std::string_view word, std::string_view rest) {
  const auto written = [&](std::string_view digits) { return fmt::format("write {}e{}", number, digits); };
  const bool digits = word.size() > 1 && word.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (digits && (word[0] == 'd' || word[0] == 'D')) return written(word.substr(1));
  if (word != "x10" || !rest.starts_with('^')) return std::nullopt;
  const std::size_t from = rest.starts_with("^-") ? 2 : 1;
  return written(rest.substr(1, std::min(rest.find_first_not_of("0123456789", from), rest.size()) - 1));
}

class Lexer {
 public:
  explicit Lexer(const Passage& passage) : passage_(passage), text_(passage.text()) {}

  std::vector<Token> run() {
    while (true) {
      while (at_ < text_.size() &&
             (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      if (at_ == text_.size()) break;
      next();
    }
    push(TokenKind::end, 0);
    return std::move(tokens_);
  }

 private:
  void push(TokenKind kind, std::size_t length, double value = 0.0) {
    tokens_.push_back({kind, static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(at_ + length), value});
    at_ += length;
  }

  bool follows(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void next() {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]) && !after_name()))
      return number();
    if (letter_length(text_.substr(at_)) > 0) return name();
    if (follows("...")) fault(3, "'...' is not an operator", "a range is written 1..N");
    static constexpr std::array<std::pair<std::string_view, TokenKind>, 6> doubles{{
        {"<=", TokenKind::less_equal},
        {">=", TokenKind::greater_equal},
        {"==", TokenKind::equal},
        {"!=", TokenKind::not_equal},
        {"..", TokenKind::range},
        {"**", TokenKind::power},
    }};
    for (const auto& [sign, kind] : doubles) {
      if (!follows(sign)) continue;
      if (sign == "**") fault(2, "'**' is not an operator", "a power is written x^2");
      return push(kind, 2);
    }
    if (follows("&&")) fault(2, "'&&' is not an operator", "write 'and'");
    if (follows("||")) fault(2, "'||' is not an operator", "write 'or'");
    if (follows(":=")) fault(2, "':=' is not an operator", "an equation is written a = b");
    if (follows("<>")) fault(2, "'<>' is not an operator", "write '!='");
    if (follows("//") || follows("/*"))
      fault(2, fmt::format("'{}' is not an operator", text_.substr(at_, 2)),
            "a comment begins with '#' and stands outside of the quotes");
    if (follows("=<") || follows("=>"))
      fault(2, fmt::format("'{}' is not an operator", text_.substr(at_, 2)),
            c == '=' && text_[at_ + 1] == '<' ? "write '<='" : "write '>='");
    switch (c) {
      case '+':
        return push(TokenKind::plus, 1);
      case '-':
        return push(TokenKind::minus, 1);
      case '*':
        return push(TokenKind::times, 1);
      case '/':
        return push(TokenKind::divide, 1);
      case '^':
        return push(TokenKind::power, 1);
      case '(':
        return push(TokenKind::open, 1);
      case ')':
        return push(TokenKind::close, 1);
      case '[':
        return push(TokenKind::open_bracket, 1);
      case ']':
        return push(TokenKind::close_bracket, 1);
      case ',':
        return push(TokenKind::comma, 1);
      case '=':
        return push(TokenKind::equals, 1);
      case '<':
        return push(TokenKind::less, 1);
      case '>':
        return push(TokenKind::greater, 1);
      case '\'':
        return push(TokenKind::prime, 1);
      case '.':
        return push(TokenKind::dot, 1);
      default:
        break;
    }
    const std::string_view character = text_.substr(at_, character_length(text_.substr(at_)));
    const std::string shown = static_cast<unsigned char>(c) < 32 || c == 127
                                  ? fmt::format("a control character (code {})", static_cast<int>(c))
                              : is_odd_blank(code_point(character))
                                  ? fmt::format("a blank that is no plain space (U+{:04X})", code_point(character))
                                  : fmt::format("the character '{}'", character);
    std::string advice = advice_for(character, text_.substr(at_));
    if (c == ';')
      advice = text_.find_first_not_of("; \t\r\n", at_) == std::string_view::npos
                   ? "an expression ends without a sign: remove ';'"
                   : "separate arguments and indices with ','";
    throw Error("bad-character", fmt::format("{} has no meaning in an expression", shown), std::move(advice),
                passage_.place(at_, character.size()));
  }

  [[noreturn]] void fault(std::size_t length, std::string message, std::string advice) {
    throw Error("bad-operator", std::move(message), std::move(advice), passage_.place(at_, length));
  }

  /// Whether the token before ends right here and is a name or an index: then "." belongs to a generated name.
  bool after_name() const {
    return !tokens_.empty() && tokens_.back().end == at_ &&
           (tokens_.back().kind == TokenKind::name || tokens_.back().kind == TokenKind::close_bracket);
  }

  void number() {
    std::size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    digits();
    // "1..N" is a range that begins with 1, not the number "1." before ".N".
    if (end < text_.size() && text_[end] == '.' && text_.substr(end, 2) != "..") {
      ++end;
      digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        end = exponent;
        digits();
      }
    }
    double value = 0.0;
    const std::string digits_text(text_.substr(at_, end - at_));
    const auto [rest, status] = std::from_chars(digits_text.data(), digits_text.data() + digits_text.size(), value);
    if (status == std::errc::result_out_of_range) {
      // Too small is 0 to the last bit that a double has; too large is a mistake.
      value = std::strtod(digits_text.c_str(), nullptr);
      if (value > 1.0)
        throw Error("number-too-large", fmt::format("the number {} is larger than any double", digits_text),
                    "the largest is about 1.8e308", passage_.place(at_, end - at_));
    }
    if (end < text_.size() && letter_length(text_.substr(end)) > 0) {
      std::size_t word_end = end;
      while (word_end < text_.size() && (letter_length(text_.substr(word_end)) > 0 || is_digit(text_[word_end])))
        word_end += is_digit(text_[word_end]) ? 1 : letter_length(text_.substr(word_end));
      const std::string_view word = text_.substr(end, word_end - end);
      if (word == "e" || word == "E")
        throw Error("incomplete-expression", fmt::format("the number {}{} has no exponent", digits_text, word),
                    fmt::format("write {}{}6 or the like", digits_text, word), passage_.place(at_, word_end - at_));
      if (digits_text == "0" && word.size() > 1 && (word[0] == 'x' || word[0] == 'X' || word[0] == 'b') &&
          word.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string_view::npos && is_digit(word[1]))
        throw Error("missing-operator", fmt::format("0{} is no number here", word), "numbers are written with decimal digits",
                    passage_.place(at_, word_end - at_));
      if (word[0] == '_' && word.find_first_not_of("_0123456789") == std::string_view::npos) {
        std::string plain = digits_text + std::string(word);
        std::erase(plain, '_');
        throw Error("missing-operator", fmt::format("found '_' in the number {}{}", digits_text, word),
                    fmt::format("digits are not grouped: {}", plain), passage_.place(at_, word_end - at_));
      }
      throw Error("missing-operator",
                  fmt::format("the number {} is followed by '{}' without an operator", digits_text, word),
                  exponent_advice(digits_text, word, text_.substr(word_end))
                      .value_or(fmt::format("write {}*{}{}", digits_text, word, unit_advice(text_.substr(end)))),
                  passage_.place(at_, word_end - at_));
    }
    push(TokenKind::number, end - at_, value);
  }

  void name() {
    std::size_t end = at_;
    while (end < text_.size()) {
      const std::size_t letter = letter_length(text_.substr(end));
      if (letter == 0 && !is_digit(text_[end])) break;
      end += std::max<std::size_t>(letter, 1);
    }
    push(TokenKind::name, end - at_);
  }

  const Passage& passage_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::size_t letter_length(std::string_view text) {
  if (text.empty()) return 0;
  const char c = text.front();
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return 1;
  if (static_cast<unsigned char>(c) < 0x80) return 0;
  const std::string_view character = text.substr(0, character_length(text));
  const std::uint32_t code = code_point(character);
  const bool letter = (code >= 0xC0 && code <= 0x24F && code != 0xD7 && code != 0xF7) ||     // Latin
                      (code >= 0x370 && code <= 0x3FF && code != 0x37E && code != 0x387) ||  // Greek
                      (code >= 0x400 && code <= 0x52F) ||                                    // Cyrillic
                      (code >= 0x2080 && code <= 0x2089);                                    // subscript digits
  return letter ? character.size() : 0;
}

std::vector<Token> tokens_of(const Passage& passage) { return Lexer(passage).run(); }

}  // namespace daedalus::model
