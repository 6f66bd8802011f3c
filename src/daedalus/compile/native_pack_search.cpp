// Like steps of one straight line become one step on four numbers (superword-level parallelism: S. Larsen, S. Amarasinghe,
// PLDI 2000).
//
// The level of a step is the number of steps on the longest way to it from the inputs. Steps of one level do not wait for each
// other, whatever is taken together with what: so only those are, and no circle can arise. Packs begin at steps whose operands
// stand side by side in an array of inputs, and grow from level to level: steps with the same operation become a pack where each
// operand is the same for all of them, or their lanes of an earlier pack, or stands in the lanes of an array.
#include "daedalus/compile/native_pack_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace daedalus::compile {

namespace {

using Step = NativeProgram::Step;
using Lanes = NativeProgram::Lanes;
constexpr std::uint32_t none = NativeProgram::none, end_of_list = none - 1, lanes = NativeProgram::pack_lanes;

/// Programs with fewer steps gain nothing that could be seen.
constexpr std::size_t worth_packing = 40;
/// Instructions that bring four numbers into one register.
constexpr int cost_of_collecting = 5;

class Search {
 public:
  Search(const NativeProgram& program, const Function::Tape& tape) : program_(program), tape_(tape), arrays_(program, tape) {}

  std::optional<NativePacks> operator()() {
    if (program_.steps.size() < worth_packing) return std::nullopt;
    std::vector<std::uint32_t> seeds = steps_on_inputs();
    if (seeds.size() < 2 * lanes && !program_.calls) return std::nullopt;
    pack_of_.assign(program_.values, none);
    lane_of_.assign(program_.values, 0);
    pack_of_step_.assign(program_.steps.size(), none);
    level_.resize(program_.steps.size());
    pack_turns_and_find_levels();
    begin_packs(seeds);
    if (packs_.empty()) return std::nullopt;
    grow_packs();
    if (!keep_what_gains()) return std::nullopt;
    return NativePacks{std::move(packs_), turned_, std::move(pack_of_), std::move(pack_of_step_), std::move(lane_of_)};
  }

 private:
  bool fits(const Step& step) const {
    switch (step.code) {
      case Code::add:
      case Code::sub:
      case Code::mul:
      case Code::div:
      case Code::neg:
      case Code::square:
      case Code::inverse:
      case Code::sqrt:
      case Code::hypot:
      case Code::multiply_add:
      case Code::multiply_sub:
      case Code::sub_product:
      case Code::store: return true;
      case Code::abs: return step.place == 0;
      case Code::pow: return is_small_power(step, tape_);
      default: return false;
    }
  }

  // Levels, and sines and cosines

  static bool is_turn(const Step& step) { return step.code == Code::sin || step.code == Code::cos; }

  /// Sines and cosines are at the same stage if equally many others come before them. They do not wait for each other either,
  /// and all of them are put on one level, that of the last.
  void pack_turns_and_find_levels() {
    std::vector<std::uint32_t> stage_of(program_.values, 0), stage(program_.steps.size()), begin{0, 0};
    const auto above = [](const std::vector<std::uint32_t>& of, const Step& step) {
      std::uint32_t result = 0;
      for (const std::uint32_t operand : step.operand)
        if (operand != none) result = std::max(result, of[operand]);
      return result;
    };
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      stage[i] = above(stage_of, step);
      if (step.code != Code::store) stage_of[step.to] = stage[i] + (is_turn(step) ? 1 : 0);
      if (begin.size() < stage[i] + 2U) begin.push_back(0);
      ++begin[stage[i] + 1U];
    }
    for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<std::uint32_t> by_stage(program_.steps.size()), next = begin, level_of(program_.values, 0), turns;
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) by_stage[next[stage[i]]++] = i;
    for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
      turns.clear();
      std::uint32_t last = 0;
      for (std::uint32_t k = begin[s]; k < begin[s + 1]; ++k) {
        const std::uint32_t i = by_stage[k];
        const Step& step = program_.steps[i];
        level_[i] = above(level_of, step);
        if (is_turn(step)) {
          turns.push_back(i);
          last = std::max(last, level_[i]);
        } else if (step.code != Code::store) {
          level_of[step.to] = level_[i] + 1;
        }
      }
      for (const std::uint32_t i : turns) {
        level_[i] = last;
        level_of[program_.steps[i].to] = last + 1;
      }
      pack_turns(turns);
    }
  }

  /// Each argument once, with its sine and its cosine.
  void pack_turns(std::vector<std::uint32_t>& turns) {
    std::erase_if(turns, [&](std::uint32_t i) { return program_.steps[i].partner < i; });
    for (std::size_t first = 0; first + 1 < turns.size(); first += lanes) {
      Lanes sines, cosines;
      sines.fill(none);
      cosines.fill(none);
      for (std::size_t k = 0; k < lanes && first + k < turns.size(); ++k) {
        const std::uint32_t i = turns[first + k], partner = program_.steps[i].partner;
        const bool is_sine = program_.steps[i].code == Code::sin;
        sines[k] = is_sine ? i : partner;
        cosines[k] = is_sine ? partner : i;
      }
      add_pack(sines);
      add_pack(cosines);
    }
    turned_ = static_cast<std::uint32_t>(packs_.size());
  }

  /// Packs come first whose lanes are sines, and each has that of the cosines behind it.
  bool is_of_turns(std::uint32_t pack) const { return pack < turned_; }

  // Where packs begin

  std::vector<std::uint32_t> steps_on_inputs() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      bool inputs = false, others = false;
      for (const std::uint32_t operand : step.operand) {
        if (operand == none) break;
        inputs = inputs || arrays_.is_input(operand);
        others = others || operand >= arrays_.end();
      }
      if (inputs && !others && fits(step)) found.push_back(i);
    }
    return found;
  }

  /// Which operands are the next of an array in another step, as bits; 0 where the steps are not neighbours in this way.
  unsigned neighbours(const Step& step, const Step& next) const {
    if (step.code != next.code) return 0;
    if (step.code == Code::store && (next.to != step.to + 1 || !is_one_array(step, next))) return 0;
    unsigned moves = 0;
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t a = step.operand[k], b = next.operand[k];
      if (a == b) continue;
      if (!arrays_.is_input(a) || b != a + 1 || !arrays_.is_input(b) || arrays_.block(a) != arrays_.block(b)) return 0;
      moves |= 1U << k;
    }
    return moves;
  }

  /// Rows of neighbours are divided into packs. Rows of equal members often begin at the same place of an array, or end there,
  /// as those of all pairs i < j: packs are counted from where more rows meet, so that lanes of different rows belong together.
  void begin_packs(std::vector<std::uint32_t>& seeds) {
    std::ranges::sort(seeds, {}, [&](std::uint32_t i) {
      const Step& step = program_.steps[i];
      return std::tuple(step.code, step.operand[0], step.operand[1], step.operand[2], step.to);
    });
    struct Row {
      std::size_t first, count;
      unsigned moves;
    };
    std::vector<Row> rows;
    std::vector<std::uint32_t> begins(arrays_.end(), 0), ends(arrays_.end(), 0);
    const auto step = [&](std::size_t seed) -> const Step& { return program_.steps[seeds[seed]]; };
    const auto place = [&](const Row& row, std::size_t seed) { return step(seed).operand[(row.moves & 1U) != 0 ? 0 : (row.moves & 2U) != 0 ? 1 : 2]; };
    for (std::size_t first = 0; first + 1 < seeds.size();) {
      Row row{first, 1, neighbours(step(first), step(first + 1))};
      while (row.moves != 0 && first + row.count < seeds.size() &&
             neighbours(step(first + row.count - 1), step(first + row.count)) == row.moves)
        ++row.count;
      first += row.count;
      if (row.count < 2) continue;
      rows.push_back(row);
      ++begins[place(row, row.first)];
      ++ends[place(row, row.first + row.count - 1)];
    }
    for (const Row& row : rows) {
      const bool from_end = ends[place(row, row.first + row.count - 1)] > begins[place(row, row.first)];
      const std::size_t idle = from_end ? (lanes - row.count % lanes) % lanes : 0;  // lanes of the first pack
      for (std::size_t at = 0; at < row.count;) {
        const std::size_t from = at == 0 ? idle : 0, count = std::min(lanes - from, row.count - at);
        Lanes members;
        members.fill(none);
        for (std::size_t k = 0; k < count; ++k) members[from + k] = seeds[row.first + at + k];
        at += count;
        if (count >= 2 && reads_arrays(members)) add_pack(members);
      }
    }
  }

  /// Whether idle lanes of a pack on inputs stay in their arrays, and a store has none.
  bool reads_arrays(const Lanes& members) const {
    const auto [one, other] = two_of(members);
    const Step& step = program_.steps[members[one]];
    if (step.code == Code::store && std::ranges::find(members, none) != members.end()) return false;
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t operand = step.operand[k];
      if (operand == none || operand == program_.steps[members[other]].operand[k]) continue;
      if (arrays_.is_input(operand) && !arrays_.has_pack(std::int64_t{operand} - static_cast<std::int64_t>(one), operand)) return false;
    }
    return true;
  }

  static std::pair<std::size_t, std::size_t> two_of(const Lanes& members) {
    std::size_t one = 0;
    while (members[one] == none) ++one;
    std::size_t other = one + 1;
    while (members[other] == none) ++other;
    return {one, other};
  }

  void add_pack(const Lanes& members, int collected = 0) {
    const auto number = static_cast<std::uint32_t>(packs_.size());
    packs_.push_back(members);
    collected_.push_back(collected);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (members[lane] == none) continue;
      pack_of_step_[members[lane]] = number;
      const Step& step = program_.steps[members[lane]];
      if (step.code == Code::store) continue;
      pack_of_[step.to] = number;
      lane_of_[step.to] = static_cast<std::uint8_t>(lane);
    }
  }

  // How they grow

  /// A step that may become a lane of a pack, and what must be the same in all lanes of it.
  struct Candidate {
    static constexpr std::uint64_t of_any = std::uint64_t{3} << 32U;
    std::array<std::uint64_t, 3> likeness;
    Code code;
    std::uint32_t lane;
    bool operator==(const Candidate& other) const { return likeness == other.likeness && code == other.code; }
    std::uint64_t hash() const {
      const auto mixed = static_cast<std::uint64_t>(code) * 0xBF58476D1CE4E5B9ULL ^ likeness[0] * 0x9E3779B97F4A7C15ULL ^
                         likeness[1] * 0xD6E8FEB86659FD93ULL ^ likeness[2] * 0xA0761D6478BD642FULL;
      return mixed >> 32U;
    }
  };

  /// Level after level, steps that use packs of those before become packs of their own.
  void grow_packs() {
    first_at_.assign(*std::ranges::max_element(level_) + 1U, end_of_list);
    next_at_.assign(program_.steps.size(), none);
    std::vector<std::uint32_t> open;
    std::uint32_t listed = 0;  // packs whose users are waiting at their levels
    const auto list_users = [&] {
      for (; listed < packs_.size(); ++listed)
        for_each_use(listed, [&](std::uint32_t user) {
          std::uint32_t& first = first_at_[level_[user]];
          if (next_at_[user] != none || !fits(program_.steps[user])) return;
          next_at_[user] = first;
          first = user;
        });
    };
    list_users();
    for (std::uint32_t& first : first_at_) {
      open.clear();
      for (std::uint32_t i = first; i != end_of_list; i = next_at_[i])
        if (pack_of_step_[i] == none) open.push_back(i);
      for (const Reading reading : {Reading::arrays, Reading::first_in_lanes, Reading::second_in_lanes, Reading::collected}) {
        if (open.size() < 2) break;
        join(open, reading);
        std::erase_if(open, [&](std::uint32_t i) { return pack_of_step_[i] != none; });
      }
      list_users();
    }
  }

  /// Steps that use a number of a pack, one after the other for each lane.
  template <class Act>
  void for_each_use(std::uint32_t pack, Act&& act) const {
    for (const std::uint32_t member : packs_[pack]) {
      if (member == none || program_.steps[member].code == Code::store) continue;
      const std::uint32_t value = program_.steps[member].to;
      for (std::uint32_t u = program_.use_start[value]; u < program_.use_start[value + 1]; ++u) act(program_.uses[u]);
    }
  }

  /// What operands of a step are taken for: the first that belongs to a pack, or the second, says which lane it is, and those of
  /// packs in another lane are the same for all lanes. Inputs are the same for all, but in the first way. In the last way what
  /// does not belong to a pack is collected from wherever it is.
  enum class Reading { arrays, first_in_lanes, second_in_lanes, collected };

  /// None where this reading is none of the step, or the same as the first.
  std::optional<Candidate> candidate(std::uint32_t i, Reading reading) const {
    const Step& step = program_.steps[i];
    std::uint32_t lane = none, second = none;
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t operand = step.operand[k];
      if (operand == none) break;
      if (pack_of_[operand] == none) continue;
      if (lane == none)
        lane = lane_of_[operand];
      else if (second == none && lane_of_[operand] != lane)
        second = lane_of_[operand];
    }
    if (reading == Reading::second_in_lanes) lane = second;
    if (lane == none) return std::nullopt;
    bool new_reading = reading == Reading::arrays || reading == Reading::second_in_lanes;
    constexpr std::uint64_t of_pack = std::uint64_t{1} << 32U, of_array = std::uint64_t{2} << 32U;
    Candidate result{{none, none, none}, step.code, lane};
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t operand = step.operand[k];
      if (operand == none) break;
      std::uint64_t& likeness = result.likeness[k];
      likeness = operand;
      if (pack_of_[operand] != none && lane_of_[operand] == lane) {
        likeness = of_pack | pack_of_[operand];
      } else if (operand >= arrays_.end()) {
        if (reading == Reading::collected) likeness = Candidate::of_any;
        new_reading = new_reading || reading == Reading::collected;
      } else if (arrays_.is_input(operand) && arrays_.has_pack(std::int64_t{operand} - lane, operand)) {
        if (reading == Reading::arrays) likeness = of_array | (operand - lane);
        new_reading = new_reading || reading == Reading::first_in_lanes;
      }
    }
    if (!new_reading) return std::nullopt;
    if (step.code == Code::store) {
      if (step.to < lane) return std::nullopt;
      result.likeness[1] = step.to - lane;
    }
    return result;
  }

  /// Makes packs of like steps.
  void join(const std::vector<std::uint32_t>& open, Reading reading) {
    alike_.clear();
    const std::size_t places = std::bit_ceil(2 * open.size());
    if (table_.size() < places) table_.resize(places, none);
    std::fill_n(table_.begin(), places, none);
    for (const std::uint32_t i : open) {
      const auto one = candidate(i, reading);
      if (!one) continue;
      std::size_t at = one->hash() & (places - 1);
      while (table_[at] != none && !(alike_[table_[at]].first == *one)) at = (at + 1) & (places - 1);
      if (table_[at] == none) {
        table_[at] = static_cast<std::uint32_t>(alike_.size());
        alike_.push_back({*one, {none, none, none, none}, 0});
      }
      Alike& alike = alike_[table_[at]];
      if (alike.members[one->lane] != none) continue;
      alike.members[one->lane] = i;
      ++alike.count;
    }
    for (const Alike& alike : alike_) {
      const bool is_store = alike.first.code == Code::store;
      if (alike.count < (is_store || reading == Reading::collected ? lanes : 2)) continue;
      if (is_store && !is_one_array(program_.steps[alike.members.front()], program_.steps[alike.members.back()])) continue;
      add_pack(alike.members, static_cast<int>(std::ranges::count(alike.first.likeness, Candidate::of_any)));
    }
  }

  /// Notes stand elsewhere than outputs.
  bool is_one_array(const Step& store, const Step& other) const {
    const std::size_t told = tape_.outputs - tape_.notes;
    return (store.to < told) == (other.to < told);
  }

  // What is gained

  bool keep_what_gains() {
    std::vector<int> gain(packs_.size(), 0);
    std::vector<std::vector<std::uint32_t>> users(packs_.size());
    for (std::uint32_t p = turned_; p < packs_.size(); ++p) {
      const auto members = static_cast<int>(lanes - static_cast<std::size_t>(std::ranges::count(packs_[p], none)));
      const Code code = program_.steps[packs_[p][two_of(packs_[p]).first]].code;
      const int worth = code == Code::div || code == Code::inverse || code == Code::sqrt ? 3 : 1;
      bool asked = false;  // for single lanes
      for_each_use(p, [&](std::uint32_t i) {
        const std::uint32_t user = pack_of_step_[i];
        if (user == none)
          asked = true;
        else if (!is_of_turns(user))  // which are kept in any case
          users[p].push_back(user);
      });
      std::ranges::sort(users[p]);
      users[p].erase(std::unique(users[p].begin(), users[p].end()), users[p].end());
      gain[p] = worth * (members - 1) - (asked ? 1 : 0) - cost_of_collecting * collected_[p];
    }
    drop_vain_collections(gain, users);

    // Packs that hang together are kept or dropped together.
    std::vector<std::uint32_t> above(packs_.size());
    for (std::uint32_t p = 0; p < above.size(); ++p) above[p] = p;
    const auto top = [&](std::uint32_t p) {
      while (above[p] != p) p = above[p] = above[above[p]];
      return p;
    };
    for (std::uint32_t p = 0; p < packs_.size(); ++p)
      for (const std::uint32_t user : users[p])
        if (is_kept(p) && is_kept(user)) above[top(p)] = top(user);
    std::vector<int> together(packs_.size(), 0), size(packs_.size(), 0);
    for (std::uint32_t p = turned_; p < packs_.size(); ++p) {
      if (!is_kept(p)) continue;
      together[top(p)] += gain[p];
      ++size[top(p)];
    }
    int all = 0;
    for (std::uint32_t p = turned_; p < packs_.size(); ++p) {
      const std::uint32_t t = top(p);
      if (!is_kept(p)) continue;
      if (together[t] < size[t] || size[t] < 3)
        drop(p);
      else if (t == p)
        all += together[t];
    }
    return turned_ > 0 || 10 * static_cast<std::size_t>(std::max(all, 0)) >= program_.steps.size();
  }

  /// Collecting pays by what comes of it only: a pack that is not worth what it costs is dropped, with those that use it.
  void drop_vain_collections(const std::vector<int>& gain, const std::vector<std::vector<std::uint32_t>>& users) {
    constexpr int enough = 1000;  // what is used in many ways counts many times
    std::vector<int> with_users = gain;
    for (auto p = static_cast<std::uint32_t>(packs_.size()); p-- > turned_;)  // users come later
      for (const std::uint32_t user : users[p]) with_users[p] = std::min(with_users[p] + std::max(with_users[user], 0), enough);
    for (std::uint32_t p = turned_; p < packs_.size(); ++p) {
      if (is_kept(p) && (collected_[p] == 0 || with_users[p] > 0)) continue;
      for (const std::uint32_t user : users[p]) drop(user);
      drop(p);
    }
  }

  bool is_kept(std::uint32_t p) const { return is_of_turns(p) || pack_of_step_[packs_[p][two_of(packs_[p]).first]] == p; }

  void drop(std::uint32_t p) {
    for (const std::uint32_t i : packs_[p]) {
      if (i == none) continue;
      pack_of_step_[i] = none;
      if (program_.steps[i].code != Code::store) pack_of_[program_.steps[i].to] = none;
    }
  }

  const NativeProgram& program_;
  const Function::Tape& tape_;
  const InputArrays arrays_;
  std::vector<Lanes> packs_;
  std::uint32_t turned_ = 0;
  std::vector<std::uint32_t> pack_of_, pack_of_step_;
  std::vector<std::uint8_t> lane_of_;
  std::vector<int> collected_;  ///< operands of each pack
  struct Alike {
    Candidate first;
    Lanes members;
    std::uint32_t count;
  };
  std::vector<Alike> alike_;
  std::vector<std::uint32_t> table_;               ///< of these, by likeness
  std::vector<std::uint32_t> level_;               ///< of steps
  std::vector<std::uint32_t> first_at_, next_at_;  ///< lists of those at each level that may become packs
};

}  // namespace

InputArrays::InputArrays(const NativeProgram& program, const Function::Tape& tape)
    : first_(static_cast<std::uint32_t>(program.constants)), end_(static_cast<std::uint32_t>(program.constants + program.inputs)) {
  for (std::uint32_t block = 0; block < tape.blocks.size(); ++block) block_of_.insert(block_of_.end(), tape.blocks[block], block);
}

bool InputArrays::has_pack(std::int64_t first, std::uint32_t member) const {
  const auto beside = [&](std::int64_t value) {
    return value >= std::int64_t{first_} && value < std::int64_t{end_} && block(static_cast<std::uint32_t>(value)) == block(member);
  };
  return beside(first) && beside(first + NativeProgram::pack_lanes - 1);
}

std::optional<NativePacks> packs_of(const NativeProgram& program, const Function::Tape& tape) { return Search(program, tape)(); }

}  // namespace daedalus::compile
