#include "daedalus/compile/native_machine.hpp"

#include <asmjit/x86.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "daedalus/base/check.hpp"
#include "daedalus/expr/hypotenuse.hpp"

namespace daedalus::compile {

namespace {

namespace x86 = asmjit::x86;
namespace Inst = x86::Inst;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::array counters{x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};
constexpr std::array arguments{x86::rdi, x86::rsi, x86::rdx, x86::rcx};
static_assert(counters.size() == NativeMachine::most_counters);

/// Remembers that something could not be encoded.
class Faults final : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { any = true; }
  bool any = false;
};

}  // namespace

struct NativeMachine::Parts {
  explicit Parts(std::size_t of_lanes) : lanes(of_lanes), spacing(of_lanes) {
    faults.any = code.init(asmjit::Environment::host()) != asmjit::kErrorOk;
    if (faults.any) return;
    code.setErrorHandler(&faults);
    code.attach(&a);
    for (asmjit::Label& label : numbers) label = a.newLabel();
  }

  x86::Vec vec(Register r) const { return vec(static_cast<std::uint32_t>(r.number)); }
  x86::Vec vec(std::uint32_t r) const {
    if (lanes == 1) return x86::xmm(r);
    if (lanes == 4) return x86::ymm(r);
    return x86::zmm(r);
  }
  /// Masks of eight lanes have registers of their own; others are in a temporary.
  bool has_mask_registers() const { return lanes == 8; }
  x86::KReg k(Mask mask) const { return x86::k(static_cast<std::uint32_t>(mask.number + 1)); }
  asmjit::InstId pick(asmjit::InstId one, asmjit::InstId several) const { return lanes == 1 ? one : several; }

  /// A register that points to a block of inputs, loaded where it is not there.
  x86::Gp pointer(std::uint32_t block) {
    for (Pointer& one : pointers)
      if (one.block == block) return one.gp;
    Pointer& taken = pointers[next_pointer++ % pointers.size()];
    taken.block = block;
    a.mov(taken.gp, x86::ptr(inputs, static_cast<std::int32_t>(8 * block)));
    return taken.gp;
  }

  x86::Mem memory(const NativePlace& place) {
    const bool one = place.base == NativePlace::mode;
    const std::int64_t bytes = 8 * place.index * static_cast<std::int64_t>(one ? 1 : spacing);
    if (std::abs(bytes) > std::numeric_limits<std::int32_t>::max()) faults.any = true;
    const auto distance = static_cast<std::int32_t>(bytes);
    const auto size = static_cast<std::uint32_t>(one ? 8 : 8 * lanes);
    const x86::Gp base = place.base == NativePlace::input    ? pointer(place.block)
                         : place.base == NativePlace::output ? outputs
                         : place.base == NativePlace::mode   ? modes
                                                             : buffer;
    return place.counter < 0 ? x86::ptr(base, distance, size)
                             : x86::ptr(base, counters[static_cast<std::size_t>(place.counter)], 0, distance, size);
  }

  /// What works on bits works on 16 bytes at least.
  x86::Mem memory(Number number) const {
    const bool by_bits = number >= Number::sign_bit;
    return x86::ptr(numbers[static_cast<std::size_t>(number)], 0, static_cast<std::uint32_t>(lanes == 1 ? (by_bits ? 16 : 8) : 8 * lanes));
  }

  asmjit::Operand operand(const Operand& from) {
    if (const auto* r = std::get_if<Register>(&from)) return vec(*r);
    if (const auto* number = std::get_if<Number>(&from)) return memory(*number);
    return memory(std::get<NativePlace>(from));
  }

  void embed_numbers() {
    const std::uint64_t sign = std::uint64_t{1} << 63U;
    const std::uint64_t bits[] = {std::bit_cast<std::uint64_t>(0.0),
                                  std::bit_cast<std::uint64_t>(1.0),
                                  std::bit_cast<std::uint64_t>(-1.0),
                                  std::bit_cast<std::uint64_t>(expr::large_side),
                                  std::bit_cast<std::uint64_t>(expr::small_side),
                                  std::bit_cast<std::uint64_t>(expr::shrinking),
                                  std::bit_cast<std::uint64_t>(expr::growing),
                                  sign,
                                  ~sign,
                                  expr::bits_of_inverse};
    const std::size_t copies = std::max<std::size_t>(packs ? 4 : 2, lanes);
    a.align(asmjit::AlignMode::kData, static_cast<std::uint32_t>(8 * copies));
    for (std::size_t i = 0; i < std::size(bits); ++i) {
      a.bind(numbers[i]);
      for (std::size_t lane = 0; lane < copies; ++lane) a.embed(&bits[i], sizeof bits[i]);
    }
  }

  std::size_t lanes;          ///< of an operation
  const std::size_t spacing;  ///< of numbers in memory
  Faults faults;
  asmjit::CodeHolder code;
  x86::Assembler a;
  std::array<asmjit::Label, static_cast<std::size_t>(Number::count)> numbers;
  bool calls = false, saves = false, packs = false;

  x86::Gp inputs = x86::rdi, outputs = x86::rsi, buffer = x86::rdx, modes = x86::rcx;
  struct Pointer {
    x86::Gp gp;
    std::uint32_t block = none;
  };
  std::array<Pointer, most_blocks> pointers{Pointer{x86::rax}, Pointer{x86::r8}, Pointer{x86::r9}, Pointer{x86::r10},
                                            Pointer{x86::r11}};
  std::size_t next_pointer = 0;
  std::vector<std::int64_t> strides;  ///< of the loop that is written
  asmjit::Label again;
};

bool NativeMachine::has(std::size_t lanes) {
  static const std::size_t most = [] {
    using X86 = asmjit::CpuFeatures::X86;
    const char* wish = std::getenv("DAEDALUS_NATIVE");
    const asmjit::CpuInfo& processor = asmjit::CpuInfo::host();
    if ((wish != nullptr && std::string_view(wish) == "0") || !processor.hasFeature(X86::kAVX) || !processor.hasFeature(X86::kFMA))
      return 0;
    if (!processor.hasFeature(X86::kAVX2)) return 1;
    return processor.hasFeature(X86::kAVX512_F) && processor.hasFeature(X86::kAVX512_DQ) ? 8 : 4;
  }();
  return lanes <= most && (lanes == 1 || lanes == 4 || lanes == 8);
}

NativeMachine::NativeMachine(std::size_t lanes)
    : parts_(std::make_unique<Parts>(lanes)), lanes_(lanes), width_(lanes), register_count_(lanes == 8 ? 29 : 13) {}

NativeMachine::~NativeMachine() = default;

void NativeMachine::work_on(std::size_t numbers) { parts_->lanes = width_ = numbers; }

void NativeMachine::begin(bool calls, bool loops, bool packs) {
  Parts& p = *parts_;
  p.calls = calls;
  p.packs = packs;
  p.saves = calls || loops;
  if (p.saves)
    for (const x86::Gp& gp : counters) p.a.push(gp);
  if (!calls) return;  // everything stays where the caller put it
  p.a.sub(x86::rsp, 8);  // the stack is aligned for calls
  p.inputs = x86::r13;
  p.outputs = x86::rbp;
  p.buffer = x86::rbx;
  p.modes = x86::r12;
  p.a.mov(p.inputs, x86::rdi);
  p.a.mov(p.outputs, x86::rsi);
  p.a.mov(p.buffer, x86::rdx);
  p.a.mov(p.modes, x86::rcx);
  p.pointers[0].gp = x86::r14;
  p.pointers[1].gp = x86::r15;
}

void NativeMachine::end() {
  Parts& p = *parts_;
  if (lanes_ > 1 || p.packs) p.a.vzeroupper();
  if (p.calls) p.a.add(x86::rsp, 8);
  if (p.saves)
    for (std::size_t i = counters.size(); i-- > 0;) p.a.pop(counters[i]);
  p.a.ret();
  p.embed_numbers();
}

void NativeMachine::begin_loop(const std::vector<std::int64_t>& strides, const std::vector<std::uint32_t>& blocks) {
  Parts& p = *parts_;
  DAEDALUS_CHECK(!p.calls && strides.size() <= most_counters && blocks.size() <= most_blocks, "{} counters, {} blocks",
                 strides.size(), blocks.size());
  // All pointers that the loop needs are there before it, so that none is loaded in it.
  for (std::size_t i = 0; i < p.pointers.size(); ++i) {
    p.pointers[i].block = i < blocks.size() ? blocks[i] : none;
    if (i < blocks.size()) p.a.mov(p.pointers[i].gp, x86::ptr(p.inputs, static_cast<std::int32_t>(8 * blocks[i])));
  }
  p.strides = strides;
  for (std::size_t i = 0; i < strides.size(); ++i) p.a.xor_(counters[i].r32(), counters[i].r32());
  p.again = p.a.newLabel();
  p.a.align(asmjit::AlignMode::kCode, 32);
  p.a.bind(p.again);
}

void NativeMachine::end_loop(std::int64_t turns) {
  Parts& p = *parts_;
  const auto bytes = [&](std::int64_t numbers) { return static_cast<std::int32_t>(8 * numbers * static_cast<std::int64_t>(lanes_)); };
  for (std::size_t i = 0; i < p.strides.size(); ++i) p.a.add(counters[i], bytes(p.strides[i]));
  p.a.cmp(counters.front(), bytes(p.strides.front() * turns));
  p.a.jne(p.again);
}

void NativeMachine::move(Register to, const Operand& from) {
  Parts& p = *parts_;
  if (std::holds_alternative<Register>(from)) {
    p.a.emit(Inst::kIdVmovapd, p.vec(to), p.operand(from));
    return;
  }
  const auto* place = std::get_if<NativePlace>(&from);
  const bool spread = place != nullptr && !reads(*place);
  p.a.emit(spread ? Inst::kIdVbroadcastsd : p.pick(Inst::kIdVmovsd, Inst::kIdVmovupd), p.vec(to), p.operand(from));
}

void NativeMachine::store(const NativePlace& to, Register from) {
  const x86::Mem place = parts_->memory(to);
  parts_->a.emit(parts_->pick(Inst::kIdVmovsd, Inst::kIdVmovupd), place, parts_->vec(from));
}

void NativeMachine::spread(Register to, const Operand& from) {
  Parts& p = *parts_;
  asmjit::Operand one = p.operand(from);
  if (const auto* r = std::get_if<Register>(&from)) one = x86::xmm(static_cast<std::uint32_t>(r->number));
  else one.as<x86::Mem>().setSize(8);
  p.a.emit(Inst::kIdVbroadcastsd, x86::ymm(static_cast<std::uint32_t>(to.number)), one);
}

void NativeMachine::pair(Register to, const Operand& first, const Operand& second) {
  Parts& p = *parts_;
  Register low = to;
  if (const auto* r = std::get_if<Register>(&first))
    low = *r;
  else
    p.a.emit(Inst::kIdVmovsd, p.vec(to), p.operand(first));
  const bool in_register = std::holds_alternative<Register>(second);
  p.a.emit(in_register ? Inst::kIdVunpcklpd : Inst::kIdVmovhpd, p.vec(to), p.vec(low), p.operand(second));
}

void NativeMachine::join(Register to, Register low, Register high) {
  Parts& p = *parts_;
  p.a.vinsertf128(x86::ymm(static_cast<std::uint32_t>(to.number)), x86::ymm(static_cast<std::uint32_t>(low.number)),
                  p.vec(high).as<x86::Xmm>(), 1);
}

void NativeMachine::compute(Arithmetic what, Register to, Register left, const Operand& right) {
  Parts& p = *parts_;
  const asmjit::InstId instruction = [&] {
    switch (what) {
      case Arithmetic::add: return p.pick(Inst::kIdVaddsd, Inst::kIdVaddpd);
      case Arithmetic::sub: return p.pick(Inst::kIdVsubsd, Inst::kIdVsubpd);
      case Arithmetic::mul: return p.pick(Inst::kIdVmulsd, Inst::kIdVmulpd);
      case Arithmetic::div: return p.pick(Inst::kIdVdivsd, Inst::kIdVdivpd);
      case Arithmetic::largest: return p.pick(Inst::kIdVmaxsd, Inst::kIdVmaxpd);
      case Arithmetic::least: break;
    }
    return p.pick(Inst::kIdVminsd, Inst::kIdVminpd);
  }();
  const asmjit::Operand second = p.operand(right);
  p.a.emit(instruction, p.vec(to), p.vec(left), second);
}

void NativeMachine::root(Register to, Register from) {
  Parts& p = *parts_;
  if (width_ == 1)
    p.a.emit(Inst::kIdVsqrtsd, p.vec(to), p.vec(from), p.vec(from));
  else
    p.a.emit(Inst::kIdVsqrtpd, p.vec(to), p.vec(from));
}

void NativeMachine::floor(Register to, Register from) {
  Parts& p = *parts_;
  const asmjit::Imm down(9);  // without a flag
  if (width_ == 1)
    p.a.emit(Inst::kIdVroundsd, p.vec(to), p.vec(from), p.vec(from), down);
  else
    p.a.emit(width_ == 4 ? Inst::kIdVroundpd : Inst::kIdVrndscalepd, p.vec(to), p.vec(from), down);
}

void NativeMachine::bits(Bits what, Register to, Register left, const Operand& right) {
  Parts& p = *parts_;
  const asmjit::InstId instruction = what == Bits::both     ? Inst::kIdVandpd
                                     : what == Bits::differ ? Inst::kIdVxorpd
                                                            : Inst::kIdVpsubq;
  const asmjit::Operand second = p.operand(right);
  p.a.emit(instruction, p.vec(to), p.vec(left), second);
}

void NativeMachine::fuse_into_sum(Fused what, Register sum, Register a, const Operand& b) {
  Parts& p = *parts_;
  const asmjit::InstId instruction = what == Fused::product_plus    ? p.pick(Inst::kIdVfmadd231sd, Inst::kIdVfmadd231pd)
                                     : what == Fused::product_minus ? p.pick(Inst::kIdVfmsub231sd, Inst::kIdVfmsub231pd)
                                                                    : p.pick(Inst::kIdVfnmadd231sd, Inst::kIdVfnmadd231pd);
  const asmjit::Operand last = p.operand(b);
  p.a.emit(instruction, p.vec(sum), p.vec(a), last);
}

void NativeMachine::fuse_into_factor(Fused what, Register factor, Register b, const Operand& c) {
  Parts& p = *parts_;
  const asmjit::InstId instruction = what == Fused::product_plus    ? p.pick(Inst::kIdVfmadd213sd, Inst::kIdVfmadd213pd)
                                     : what == Fused::product_minus ? p.pick(Inst::kIdVfmsub213sd, Inst::kIdVfmsub213pd)
                                                                    : p.pick(Inst::kIdVfnmadd213sd, Inst::kIdVfnmadd213pd);
  const asmjit::Operand last = p.operand(c);
  p.a.emit(instruction, p.vec(factor), p.vec(b), last);
}

void NativeMachine::compare(Mask to, Register left, const Operand& right, Predicate predicate) {
  Parts& p = *parts_;
  const asmjit::Operand second = p.operand(right);
  const asmjit::Imm how(static_cast<int>(predicate));
  if (p.has_mask_registers())
    p.a.emit(Inst::kIdVcmppd, p.k(to), p.vec(left), second, how);
  else
    p.a.emit(p.pick(Inst::kIdVcmpsd, Inst::kIdVcmppd), p.vec(temporary(to.number)), p.vec(left), second, how);
}

void NativeMachine::both(Mask to, Mask one, Mask other) {
  Parts& p = *parts_;
  if (p.has_mask_registers())
    p.a.kandw(p.k(to), p.k(one), p.k(other));
  else
    p.a.emit(Inst::kIdVandpd, p.vec(temporary(to.number)), p.vec(temporary(one.number)), p.vec(temporary(other.number)));
}

void NativeMachine::either(Mask to, Mask one, Mask other) {
  Parts& p = *parts_;
  if (p.has_mask_registers())
    p.a.korw(p.k(to), p.k(one), p.k(other));
  else
    p.a.emit(Inst::kIdVorpd, p.vec(temporary(to.number)), p.vec(temporary(one.number)), p.vec(temporary(other.number)));
}

void NativeMachine::select(Mask to, Mask no, Mask yes, Mask where) {
  Parts& p = *parts_;
  if (!p.has_mask_registers()) return select(temporary(to.number), temporary(no.number), temporary(yes.number), where);
  const x86::KReg chosen = x86::k7;
  p.a.kandw(chosen, p.k(where), p.k(yes));
  p.a.kandnw(p.k(to), p.k(where), p.k(no));  // not where, and no
  p.a.korw(p.k(to), p.k(to), chosen);
}

void NativeMachine::select(Register to, Register no, const Operand& yes, Mask where) {
  Parts& p = *parts_;
  // A scalar selection reads 16 bytes.
  const auto* number = std::get_if<Number>(&yes);
  const asmjit::Operand second =
      width_ == 1 && number != nullptr ? x86::ptr(p.numbers[static_cast<std::size_t>(*number)], 0, 16) : p.operand(yes);
  if (p.has_mask_registers())
    p.a.k(p.k(where)).emit(Inst::kIdVblendmpd, p.vec(to), p.vec(no), second);
  else
    p.a.emit(Inst::kIdVblendvpd, p.vec(to), p.vec(no), second, p.vec(temporary(where.number)));
}

void NativeMachine::truth(Register to, Mask from) {
  Parts& p = *parts_;
  const x86::Mem ones = x86::ptr(p.numbers[static_cast<std::size_t>(Number::one)], 0, static_cast<std::uint32_t>(std::max<std::size_t>(16, 8 * width_)));
  if (p.has_mask_registers())
    p.a.k(p.k(from)).z().emit(Inst::kIdVmovapd, p.vec(to), ones);
  else
    p.a.emit(Inst::kIdVandpd, p.vec(to), p.vec(temporary(from.number)), ones);
}

void NativeMachine::pass_address(int argument, const NativePlace& place) {
  parts_->a.lea(arguments[static_cast<std::size_t>(argument)], parts_->memory(place));
}

void NativeMachine::pass(int argument, std::uint64_t value) {
  const x86::Gp to = arguments[static_cast<std::size_t>(argument)];
  if (value == 0)
    parts_->a.xor_(to.r32(), to.r32());
  else
    parts_->a.mov(to, value);
}

void NativeMachine::call(std::uint64_t function, Callee callee) {
  Parts& p = *parts_;
  if (callee == Callee::scalar && (lanes_ > 1 || p.packs)) p.a.vzeroupper();
  p.a.mov(x86::rax, function);
  p.a.call(x86::rax);
  for (std::size_t i = 2; i < p.pointers.size(); ++i) p.pointers[i].block = none;  // the first two are kept by a call
}

void* NativeMachine::finish(CodePages& pages) {
  Parts& p = *parts_;
  if (p.faults.any || p.code.flatten() != asmjit::kErrorOk || p.code.resolveUnresolvedLinks() != asmjit::kErrorOk) return nullptr;
  void* memory = pages.reserve(p.code.codeSize());
  if (memory == nullptr || p.code.relocateToBase(reinterpret_cast<std::uint64_t>(memory)) != asmjit::kErrorOk ||
      p.code.copyFlattenedData(memory, p.code.codeSize()) != asmjit::kErrorOk || !pages.seal())
    return nullptr;
  return memory;
}

}  // namespace daedalus::compile
