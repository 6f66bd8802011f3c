// E. G. Ng, B. W. Peyton, Block sparse Cholesky algorithms on advanced uniprocessor computers, SIAM J. Sci. Comput. 14
// (1993): block J is first changed by every block K before it that has rows among the columns of J,
//     L_J -= L_K[rows of J] L_K[columns of J]^T,
// a product of full matrices that is scattered to the rows of J; then J is factored as a full matrix. The order is that of
// approximate minimum degree, followed by a postorder of the elimination tree, which brings like columns together.
#include "daedalus/linalg/supernodal_cholesky.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

namespace daedalus::linalg {

namespace {

constexpr auto none = static_cast<std::size_t>(-1);
/// A block joins the next one where no more than this part of the entries are zeros then.
constexpr double most_zeros = 0.25;

/// y -= sum_k b[k * stride] A_k over the columns A_k of A.
void subtract_columns(double* __restrict y, const double* A, std::size_t leading, const double* b, std::size_t stride,
                      std::size_t columns, std::size_t length) {
  std::size_t k = 0;
  for (; k + 4 <= columns; k += 4) {
    const double *a0 = A + k * leading, *a1 = a0 + leading, *a2 = a1 + leading, *a3 = a2 + leading;
    const double b0 = b[k * stride], b1 = b[(k + 1) * stride], b2 = b[(k + 2) * stride], b3 = b[(k + 3) * stride];
    for (std::size_t i = 0; i < length; ++i) y[i] -= (a0[i] * b0 + a1[i] * b1) + (a2[i] * b2 + a3[i] * b3);
  }
  for (; k < columns; ++k) {
    const double* a = A + k * leading;
    const double factor = b[k * stride];
    for (std::size_t i = 0; i < length; ++i) y[i] -= a[i] * factor;
  }
}

}  // namespace

SupernodalCholesky::SupernodalCholesky(const Sparsity& pattern) : n_(pattern.rows), x_(n_) {
  order(pattern);
  // Rows of each column of L below its diagonal: those of A, and those of its children in the tree.
  std::vector<std::vector<std::size_t>> below(n_);
  std::vector<std::size_t> seen(n_, none);
  std::vector<std::vector<std::size_t>> children(n_);
  for (std::size_t j = 0; j < n_; ++j) {
    seen[j] = j;
    const auto add = [&](std::size_t i) {
      if (i <= j || seen[i] == j) return;
      seen[i] = j;
      below[j].push_back(i);
    };
    for (std::size_t k = pattern.row_start[old_[j]]; k < pattern.row_start[old_[j] + 1]; ++k) add(new_[pattern.column[k]]);
    for (const std::size_t child : children[j])
      for (const std::size_t i : below[child]) add(i);
    std::sort(below[j].begin(), below[j].end());
    if (!below[j].empty()) children[below[j].front()].push_back(j);
  }
  find_blocks(below);

  std::size_t widest_update = 0;
  for (const Block& block : blocks_) {
    const std::size_t rest = block.count - block.width;
    for (std::size_t k = 0; k < block.width; ++k) {
      const double column = static_cast<double>(block.count - k);
      operations_ += 0.5 * column * column;
    }
    widest_update = std::max(widest_update, rest);
  }
  update_.resize(widest_update);
  relative_.resize(n_);
  next_.resize(blocks_.size());
  head_.resize(blocks_.size());
  done_.resize(blocks_.size());
  diagonal_.resize(n_);
}

void SupernodalCholesky::order(const Sparsity& pattern) {
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> A(static_cast<int>(n_), static_cast<int>(n_));
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      entries.emplace_back(static_cast<int>(i), static_cast<int>(pattern.column[k]), 1.0);
  A.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> by_degree;
  Eigen::AMDOrdering<int>()(A, by_degree);
  old_.resize(n_);
  new_.resize(n_);
  for (std::size_t k = 0; k < n_; ++k) {
    old_[k] = static_cast<std::size_t>(by_degree.indices()[static_cast<int>(k)]);
    new_[old_[k]] = k;
  }

  // The elimination tree, with shortcuts to the roots found so far.
  std::vector<std::size_t> parent(n_, none), ancestor(n_, none);
  for (std::size_t j = 0; j < n_; ++j)
    for (std::size_t k = pattern.row_start[old_[j]]; k < pattern.row_start[old_[j] + 1]; ++k) {
      std::size_t i = new_[pattern.column[k]];
      while (i < j) {
        const std::size_t up = ancestor[i];
        ancestor[i] = j;
        if (up == none) parent[i] = j;
        i = up == none ? j : up;
      }
    }

  // Postorder: children before their parents, each subtree in one piece.
  std::vector<std::vector<std::size_t>> children(n_);
  std::vector<std::size_t> waiting, post;
  for (std::size_t j = n_; j-- > 0;) (parent[j] == none ? waiting : children[parent[j]]).push_back(j);
  while (!waiting.empty()) {
    const std::size_t j = waiting.back();
    if (children[j].empty()) {
      post.push_back(j);
      waiting.pop_back();
      continue;
    }
    waiting.insert(waiting.end(), children[j].begin(), children[j].end());
    children[j].clear();
  }
  std::vector<std::size_t> in_order(n_);
  for (std::size_t k = 0; k < n_; ++k) in_order[k] = old_[post[k]];
  old_ = in_order;
  for (std::size_t k = 0; k < n_; ++k) new_[old_[k]] = k;
}

void SupernodalCholesky::find_blocks(std::vector<std::vector<std::size_t>>& below) {
  // Columns, rows below the last of them, and entries that are no zeros.
  struct Draft {
    std::size_t first, end;
    std::vector<std::size_t> rest;
    double entries;
  };
  std::vector<Draft> drafts;
  const auto entries_of = [](double width, double rest) { return 0.5 * width * (width + 1.0) + width * rest; };
  for (std::size_t j = 0; j < n_; ++j) {
    Draft next{j, j + 1, std::move(below[j]), 0.0};
    next.entries = entries_of(1.0, static_cast<double>(next.rest.size()));
    // The block before joins where this is its parent and few zeros come of it.
    while (!drafts.empty() && !drafts.back().rest.empty() && drafts.back().rest.front() == next.first) {
      const Draft& before = drafts.back();
      const auto width = static_cast<double>(next.end - before.first), rest = static_cast<double>(next.rest.size());
      const double all = entries_of(width, rest), real = before.entries + next.entries;
      if (all - real > most_zeros * all) break;
      next.first = before.first;
      next.entries = real;
      drafts.pop_back();
    }
    drafts.push_back(std::move(next));
  }
  block_of_.resize(n_);
  std::size_t at = 0;
  for (const Draft& draft : drafts) {
    const std::size_t width = draft.end - draft.first;
    for (std::size_t j = draft.first; j < draft.end; ++j) block_of_[j] = blocks_.size();
    blocks_.push_back({draft.first, width, rows_.size(), width + draft.rest.size(), at});
    for (std::size_t j = draft.first; j < draft.end; ++j) rows_.push_back(j);
    rows_.insert(rows_.end(), draft.rest.begin(), draft.rest.end());
    at += width * (width + draft.rest.size());
  }
  values_.resize(at);
}

std::size_t SupernodalCholesky::place(std::size_t i, std::size_t j) const {
  const std::size_t row = std::max(new_[i], new_[j]), column = std::min(new_[i], new_[j]);
  const Block& block = blocks_[block_of_[column]];
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(block.rows), end = begin + static_cast<std::ptrdiff_t>(block.count);
  const auto at = static_cast<std::size_t>(std::lower_bound(begin, end, row) - begin);
  return block.at + (column - block.first) * block.count + at;
}

void SupernodalCholesky::clear() { std::fill(values_.begin(), values_.end(), 0.0); }

/// Puts a block on the list of the block that its next rows are columns of.
void SupernodalCholesky::queue(std::size_t b) {
  const Block& block = blocks_[b];
  if (done_[b] == block.count) return;
  const std::size_t target = block_of_[rows_[block.rows + done_[b]]];
  next_[b] = head_[target];
  head_[target] = b;
}

/// Changes a block by one before it.
void SupernodalCholesky::join(Block& block, std::size_t from) {
  const Block& source = blocks_[from];
  const std::size_t* rows = rows_.data() + source.rows;
  const std::size_t begin = done_[from];
  std::size_t end = begin;
  while (end < source.count && rows[end] < block.first + block.width) ++end;
  const double* L = values_.data() + source.at;
  for (std::size_t c = begin; c < end; ++c) {
    const std::size_t length = source.count - c;
    std::fill_n(update_.begin(), length, 0.0);
    subtract_columns(update_.data(), L + c, source.count, L + c, source.count, source.width, length);
    double* target = values_.data() + block.at + (rows[c] - block.first) * block.count;
    for (std::size_t i = 0; i < length; ++i) target[relative_[rows[c + i]]] += update_[i];
  }
  done_[from] = end;
}

/// Factors a block that all before it have changed, as a full matrix.
double SupernodalCholesky::factor_block(Block& block) {
  double smallest = 1.0;
  double* L = values_.data() + block.at;
  for (std::size_t k = 0; k < block.width; ++k) {
    double* column = L + k * block.count;
    subtract_columns(column + k, L + k, block.count, L + k, block.count, k, block.count - k);
    const double pivot = column[k], diagonal = diagonal_[block.first + k];
    if (!(pivot > 0.0) || !(diagonal > 0.0)) return 0.0;
    smallest = std::min(smallest, pivot / diagonal);
    const double inverse = 1.0 / std::sqrt(pivot);
    for (std::size_t i = k; i < block.count; ++i) column[i] *= inverse;
  }
  return smallest;
}

double SupernodalCholesky::factor() {
  for (const Block& block : blocks_)
    for (std::size_t k = 0; k < block.width; ++k) diagonal_[block.first + k] = values_[block.at + k * block.count + k];
  std::fill(head_.begin(), head_.end(), none);
  double smallest = 1.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    for (std::size_t i = 0; i < block.count; ++i) relative_[rows_[block.rows + i]] = i;
    for (std::size_t from = head_[b]; from != none;) {
      const std::size_t following = next_[from];
      join(block, from);
      queue(from);
      from = following;
    }
    smallest = std::min(smallest, factor_block(block));
    if (!(smallest > 0.0)) return 0.0;
    done_[b] = block.width;
    queue(b);
  }
  return smallest;
}

void SupernodalCholesky::solve(double* x) {
  for (std::size_t k = 0; k < n_; ++k) x_[k] = x[old_[k]];
  for (const Block& block : blocks_) {
    const double* L = values_.data() + block.at;
    const std::size_t* rows = rows_.data() + block.rows;
    for (std::size_t k = 0; k < block.width; ++k) {
      const double* column = L + k * block.count;
      const double value = x_[block.first + k] /= column[k];
      for (std::size_t i = k + 1; i < block.count; ++i) x_[rows[i]] -= column[i] * value;
    }
  }
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    const Block& block = blocks_[b];
    const double* L = values_.data() + block.at;
    const std::size_t* rows = rows_.data() + block.rows;
    for (std::size_t k = block.width; k-- > 0;) {
      const double* column = L + k * block.count;
      double sum = x_[block.first + k];
      for (std::size_t i = k + 1; i < block.count; ++i) sum -= column[i] * x_[rows[i]];
      x_[block.first + k] = sum / column[k];
    }
  }
  for (std::size_t k = 0; k < n_; ++k) x[old_[k]] = x_[k];
}

}  // namespace daedalus::linalg
