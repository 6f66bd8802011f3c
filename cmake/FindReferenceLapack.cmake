# LAPACK and BLAS by their Fortran names: Debian's alternatives decide whose (reference, OpenBLAS, ...).
find_library(LAPACK_LIBRARY lapack)
find_library(BLAS_LIBRARY blas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ReferenceLapack REQUIRED_VARS LAPACK_LIBRARY BLAS_LIBRARY)
if(ReferenceLapack_FOUND AND NOT TARGET ReferenceLapack::ReferenceLapack)
  add_library(ReferenceLapack::ReferenceLapack INTERFACE IMPORTED)
  target_link_libraries(ReferenceLapack::ReferenceLapack INTERFACE ${LAPACK_LIBRARY} ${BLAS_LIBRARY})
endif()
