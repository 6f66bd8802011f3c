#pragma once

#include "daedalus/model/reader_state.hpp"

namespace daedalus::model {

/// Runs `work`; a fault in it is reported and gives false.
template <class Work>
bool Reader::guarded(Work&& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    report(error);
  } catch (const Poisoned&) {
  }
  return false;
}

}  // namespace daedalus::model
