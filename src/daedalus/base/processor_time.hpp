#pragma once

namespace daedalus {

/// Seconds of processor time that the calling thread has used so far.
double processor_seconds();

}  // namespace daedalus
