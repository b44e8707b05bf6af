# shellcheck shell=bash
# Shared by the scripts of this folder, which source it first: strict mode, the repository's root as
# the working directory, and the functions below. Bash 3.2 (macOS) must be able to read it.
set -euo pipefail
# The directory that the script was called from; arguments are relative to it.
# shellcheck disable=SC2034
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'failed: %s\n' "$*" >&2; exit 1; }

# Prints the absolute path of an existing folder: folder PATH, relative to the caller's directory.
folder() { (cd "$caller" && cd "$1" && pwd); }

# As `folder`, and creates the folder if there is none.
make_folder() { (cd "$caller" && mkdir -p "$1" && cd "$1" && pwd); }

# Prints the absolute path of cargo's target folder, and creates it.
target_folder() { mkdir -p "${CARGO_TARGET_DIR:-target}" && (cd "${CARGO_TARGET_DIR:-target}" && pwd); }

# Prints the path of a cache folder of this user, and creates it: cache_folder NAME [OVERRIDE].
cache_folder() { make_folder "${2:-${XDG_CACHE_HOME:-$HOME/.cache}/$1}"; }

# Waits until no other process of these scripts uses a cache folder, and locks it until this script ends.
# The kernel releases the lock of a process that was killed.
lock() {
  exec 9>"$1/lock"
  flock 9
}

# Installs Debian packages whose files are missing; reads lines of `FILE-OR-COMMAND PACKAGE`.
install_missing_debs() {
  local file package missing=()
  while read -r file package; do
    command -v "$file" >/dev/null || [ -e "$file" ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Builds programs of GNU in a cache folder, once, and prints the folder of the programs: build_once NAME CACHE ARCHIVE
# PACKAGE. Debian's PACKAGE has the ARCHIVE. The function `build` runs in a folder with `source`, `build` and `bin`, the
# last for the programs. Progress and errors go to stderr; what the function prints to build.log.
build_once() {
  local name=$1 cache=$2 archive=$3 package=$4 work log=$2/build.log status
  lock "$cache"
  if [ ! -d "$cache/bin" ]; then
    [ -f "$archive" ] || fail "$name: no $archive; .ci/install/debs installs it ($package)"
    rm -rf "$cache"/build.* # of processes that were killed
    work=$(mktemp -d "$cache/build.XXXXXX")
    printf '%s: building from %s in %s (a few minutes, once)\n' "$name" "$archive" "$work" >&2
    mkdir "$work"/{source,build,bin}
    # Not `build || ...`: bash would pass over the errors inside.
    set +e
    (set -e; cd "$work"; build) >"$log" 2>&1
    status=$?
    set -e
    [ $status -eq 0 ] || { tail -n 20 "$log" >&2; fail "$name: the build failed; all of it is in $log"; }
    # Only a whole folder ever gets the name that others look for.
    mv -T "$work/bin" "$cache/bin"
    rm -rf "$work"
  fi
  printf '%s\n' "$cache/bin"
}

# Installs packages of PyPI in a cache folder, once for a list, and prints the folder of their programs:
# python_programs NAME CACHE PACKAGE==VERSION... Progress and errors go to stderr.
python_programs() {
  local name=$1 cache=$2
  shift 2
  lock "$cache"
  if [ "$(cat "$cache/installed" 2>/dev/null)" != "$*" ]; then
    printf '%s: installing %s into %s (once)\n' "$name" "$*" "$cache" >&2
    rm -rf "$cache/venv" "$cache/installed"
    python3 -m venv "$cache/venv" >&2
    "$cache/venv/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    printf '%s\n' "$*" >"$cache/installed"
  fi
  printf '%s\n' "$cache/venv/bin"
}

# Prints the version of the workspace.
workspace_version() { sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }

# Prints the commands of README's first screen that need Rust and nothing else; a board is something else.
readme_commands() { sed -n 's/^    \(cargo .*\)$/\1/p' README.md | grep -v /dev/; }
