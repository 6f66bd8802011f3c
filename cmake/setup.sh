# Functions that ./daedalus and ./check share: install what is missing, configure, build with progress.
# Sourced with `root` set to the folder of the project. Everything is said on standard error.

# A second clone of the same sources finds its objects in the cache.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { printf 'daedalus: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

jobs_allowed() { printf '%s' "${DAEDALUS_JOBS:-$(nproc)}"; }

# Names the packages of the given purposes that dpkg does not have.
missing_packages() {
  local purpose package wanted
  while read -r purpose package; do
    for wanted in "$@"; do
      if [ "$purpose" = "$wanted" ] &&
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
        printf '%s ' "$package"
      fi
    done
  done <"$root/cmake/packages.txt"
}

# Runs a command with its output in the log. On failure shows the end of it and stops.
logged() {
  local log=$1
  shift
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    show_log "$log" "$*"
    exit 1
  fi
}

# Shows the part of a log that matters: ninja's first failure, or the end.
show_log() {
  say "this failed: $2"
  if grep -q '^FAILED:' "$1"; then
    sed -n '/^FAILED:/,$p' "$1" | head -n 40
  else
    tail -n 40 "$1"
  fi | sed 's/^/    /' >&2
  say "all of its output is in $1"
}

apt_install() {
  local log=$1
  shift
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    [ -t 0 ] || as_root=(sudo -n)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y)
  local install=("${apt[@]}" install --no-install-recommends "$@")
  # A machine without package lists, or with old ones, needs an update first; a prepared one does not.
  "${install[@]}" >>"$log" 2>&1 </dev/null && return 0
  "${apt[@]}" update >>"$log" 2>&1 </dev/null
  "${install[@]}" >>"$log" 2>&1 </dev/null
}

# Installs the packages for the given purposes that are missing.
install_packages() {
  local log="$root/build/packages.log"
  command -v dpkg-query >/dev/null || {
    say "this is not a Debian system: expecting the libraries of cmake/packages.txt to be there already"
    return 0
  }
  local needed wished
  local web=()
  command -v npm >/dev/null && command -v node >/dev/null || web=(web)
  read -ra needed <<<"$(missing_packages "$@" "${web[@]}")"
  read -ra wished <<<"$(missing_packages speed)"
  [ ${#needed[@]} -gt 0 ] || [ ${#wished[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    [ ${#needed[@]} -gt 0 ] || return 0
    fail "these packages are missing, and neither root rights nor sudo are there to install them. Ask an administrator for:
    apt-get install ${needed[*]}"
  fi
  : >"$log"
  if [ ${#needed[@]} -gt 0 ]; then
    say "installing ${needed[*]}"
    apt_install "$log" "${needed[@]}" || {
      show_log "$log" "apt-get install ${needed[*]}"
      say "Daedalus needs Debian 12 or newer, and apt-get must be able to reach its packages."
      exit 1
    }
  fi
  if [ ${#wished[@]} -gt 0 ]; then
    say "installing ${wished[*]} (they make building faster)"
    apt_install "$log" "${wished[@]}" || say "could not install ${wished[*]}; going on without"
  fi
}

# Whether the build folder of a preset was configured for this place; a project that was moved or copied was not.
configured() {
  [ -e "$root/build/$1/build.ninja" ] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$root/build/$1/CMakeCache.txt"
}

# Configures a preset: preset, then further arguments of cmake.
configure() {
  local preset=$1 folder="$root/build/$1" fresh=()
  shift
  configured "$preset" || fresh=(--fresh)
  mkdir -p "$folder"
  : >"$folder/configure.log"
  (cd "$root" && logged "$folder/configure.log" cmake "${fresh[@]}" --preset "$preset" "$@") || exit 1
}

# Builds targets of a preset with progress: preset, targets.
build() {
  local preset=$1 log="$root/build/$1/build.log"
  shift
  local command=(cmake --build "$root/build/$preset" --parallel "$(jobs_allowed)" --target "$@")
  if ! NINJA_STATUS='[%f/%t] ' "${command[@]}" 2>&1 </dev/null | tee "$log" | show_progress; then
    show_log "$log" "${command[*]}"
    exit 1
  fi
}

# Turns ninja's lines into one moving line on a terminal, or a line per tenth elsewhere.
show_progress() {
  local line tenth shown=-1 moving=
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]] || continue
    if [ -t 2 ]; then
      printf '\r\033[K  %s of %s  %.60s' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]##*/}" >&2
      moving=yes
    else
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      [ "$tenth" -eq "$shown" ] || [ "$tenth" -eq 0 ] || printf '  %s of %s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
      shown=$tenth
    fi
  done
  [ -z "$moving" ] || printf '\r\033[K' >&2
}
