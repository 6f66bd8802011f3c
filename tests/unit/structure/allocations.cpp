// Counts the calls of operator new in this program, as the conformance tests do.
#include "conformance/allocations.cpp"  // NOLINT: the one definition of the replacement
