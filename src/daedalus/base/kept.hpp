#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace daedalus {

/// Values that follow from others and are dear: made once for each, and kept as long as that lives. Threads may ask at
/// the same time.
template <class Source, class Value>
class Kept {
 public:
  /// make() returns a std::shared_ptr<const Value>, which may be empty.
  template <class Make>
  std::shared_ptr<const Value> of(const std::shared_ptr<const Source>& source, Make make) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(kept_, [](const auto& one) { return one.first.expired(); });
    for (const auto& [known, value] : kept_)
      if (known.lock() == source) return value;
    return kept_.emplace_back(source, make()).second;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::weak_ptr<const Source>, std::shared_ptr<const Value>>> kept_;
};

}  // namespace daedalus
