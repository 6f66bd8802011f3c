// docs/catalogue.md is what `daedalus methods --format markdown` prints. With DAEDALUS_DOCS_REFRESH=1 it is written anew.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "cli/run.hpp"
#include "house/repository.hpp"

namespace daedalus::test {
namespace {

TEST(RunPages, CatalogueIsWhatTheProgramPrints) {
  const auto printed = tests::daedalus("methods --format markdown");
  ASSERT_EQ(printed.status, 0) << printed.err;
  const std::filesystem::path page = repository() / "docs/catalogue.md";
  if (std::getenv("DAEDALUS_DOCS_REFRESH") != nullptr) std::ofstream(page) << printed.out;
  EXPECT_EQ(tests::slurp(page), printed.out)
      << "daedalus methods --format markdown > docs/catalogue.md, or the target docs_refresh, writes it anew";
}

}  // namespace
}  // namespace daedalus::test
