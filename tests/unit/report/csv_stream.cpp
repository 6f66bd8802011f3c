// Rows reach the file whole and early; what the disk refuses waits.

#include "daedalus/report/csv_stream.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <thread>

#include "daedalus/report/csv.hpp"
#include "unit/report/tools.hpp"

namespace daedalus::tests {
namespace {

using report::CsvStream;

const std::vector<std::string> names{"x", "a,b"};

void put(CsvStream& stream, double t) { stream.row(t, std::array{t * t, -t}); }

TEST(CsvStream, WritesTheFirstRowAtOnceAndTheOthersSoon) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "old");
  CsvStream stream(path);
  stream.columns(names);
  EXPECT_EQ(slurp(path), "old");
  put(stream, 0.0);
  EXPECT_EQ(slurp(path), "t,x,\"a,b\"\n0,0,-0\n");
  put(stream, 0.5);
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  stream.poll();
  EXPECT_EQ(slurp(path), "t,x,\"a,b\"\n0,0,-0\n0.5,0.25,-0.5\n");
  EXPECT_EQ(stream.rows(), 2U);
  EXPECT_EQ(stream.t_written(), 0.5);
}

TEST(CsvStream, EndsWithAWholeRowAfterManyRows) {
  const Folder folder;
  CsvStream stream(folder.file("a.csv"));
  stream.columns(names);
  for (int i = 0; i < 20000; ++i) {
    put(stream, 0.1 * i);
    if (i % 1000 == 0) {
      EXPECT_EQ(slurp(folder.file("a.csv")).back(), '\n');
    }
  }
  EXPECT_TRUE(stream.finish());
  EXPECT_EQ(stream.rows(), 20000U);
  EXPECT_EQ(report::read_result(folder.file("a.csv"), std::nullopt).rows, 20000U);
  EXPECT_EQ(folder.size(), 1);
}

TEST(CsvStream, KeepsWhatTheDiskRefusesAndTriesAgain) {
  const Folder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  CsvStream stream(folder.file("a.csv"));
  stream.columns({"x"});
  rlimit small = before;
  small.rlim_cur = 100;
  setrlimit(RLIMIT_FSIZE, &small);
  std::string all = "t,x\n";
  for (int i = 0; i < 50; ++i) {
    stream.row(i, std::array{1.5 * i});
    report::append_csv_row(all, i, std::array{1.5 * i});
  }
  const bool finished = stream.finish();
  const std::string partial = slurp(folder.file("a.csv"));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(finished);
  EXPECT_TRUE(stream.faulty());
  EXPECT_LE(partial.size(), 100U);
  EXPECT_GT(partial.size(), 50U);
  EXPECT_EQ(partial.back(), '\n');
  EXPECT_EQ(all.substr(0, partial.size()), partial);
  const auto last = report::read_result(folder.file("a.csv"), std::nullopt);
  EXPECT_EQ(stream.rows(), last.rows);
  EXPECT_EQ(stream.t_written(), last.t);
  EXPECT_EQ(stream.rows_waiting(), 50 - last.rows);
  EXPECT_EQ(stream.t_waiting_first(), last.t + 1.0);
  EXPECT_EQ(stream.t_waiting_last(), 49.0);
  EXPECT_NE(stream.fault().find("File too large; it has " + std::to_string(last.rows) + " rows up to t = "),
            std::string::npos)
      << stream.fault();
  EXPECT_TRUE(stream.finish());
  EXPECT_EQ(slurp(folder.file("a.csv")), all);
  EXPECT_EQ(stream.rows_waiting(), 0U);
}

TEST(CsvStream, LeavesAnOldFileWhereNothingCanBeWritten) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "t,x\n0,1\n");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  bool finished = true;
  std::string left;
  {
    CsvStream stream(path);
    setrlimit(RLIMIT_FSIZE, &none);
    stream.columns({"x"});
    stream.row(0.0, std::array{2.0});
    finished = stream.finish();
    left = slurp(path);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(finished);
  EXPECT_EQ(left, "t,x\n0,1\n");
  EXPECT_EQ(folder.size(), 1);
}

TEST(CsvStream, ContinuesAfterTheLastCompleteRow) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "t,x\n0,1\n0.5,2\n0.7");
  const auto earlier = report::read_result(path, std::nullopt);
  EXPECT_TRUE(earlier.torn);
  CsvStream stream(earlier);
  stream.columns({"x"});
  stream.row(0.5, std::array{2.0});
  stream.row(0.75, std::array{3.0});
  EXPECT_TRUE(stream.finish());
  EXPECT_EQ(slurp(path), "t,x\n0,1\n0.5,2\n0.75,3\n");
  EXPECT_EQ(stream.rows(), 3U);
}

TEST(CsvStream, RefusesToContinueOtherColumns) {
  const Folder folder;
  const std::string text = "t,x\n0,1\n";
  const std::string path = folder.write("a.csv", text);
  CsvStream stream(report::read_result(path, std::nullopt));
  EXPECT_EQ(code_of([&] { stream.columns({"x", "y"}); }), "restart-columns");
  EXPECT_EQ(slurp(path), text);
}

}  // namespace
}  // namespace daedalus::tests
