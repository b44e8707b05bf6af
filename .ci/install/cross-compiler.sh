# shellcheck shell=bash
# Unpacks Debian's rustc-web, a compiler with its library's source, which builds for any system. Minutes, once.
# For `source .ci/install/cross-compiler.sh FOLDER`, after lib.sh. Nothing is installed; cargo remains the project's.
# Links WebAssembly with wasm-ld of Debian's lld, as this compiler has no linker of its own.
# Defines the function `cross COMMAND TARGET PANIC ARGUMENTS`, which runs cargo with that compiler.
compiler_folder=$1
mkdir -p "$compiler_folder/debs"
compiler_folder=$(cd "$compiler_folder" && pwd)
compiler=$compiler_folder/root
if [ ! -x "$compiler/usr/bin/rustc" ]; then
  apt-get update -qq
  (cd "$compiler_folder/debs" && apt-get download -qq rustc-web libstd-rust-web-1.96 libstd-rust-web-dev rust-web-src \
    libllvm22 libedit2 libz3-4 libbsd0 libmd0 libzstd1)
  for deb in "$compiler_folder"/debs/*.deb; do dpkg -x "$deb" "$compiler"; done
fi
compiler_cargo=$(rustup which cargo 2>/dev/null || command -v cargo)
cross() {
  env RUSTC="$compiler/usr/bin/rustc" RUSTC_BOOTSTRAP=1 LD_LIBRARY_PATH="$compiler/usr/lib/x86_64-linux-gnu" \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld \
    CARGO_TARGET_DIR="${CROSS_TARGET_DIR:-$compiler_folder/build}" CARGO_INCREMENTAL=0 \
    "$compiler_cargo" "$1" --quiet "-Zbuild-std=std,$3" --target "$2" "${@:4}"
}
