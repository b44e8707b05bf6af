# One command a recipe, so that just is not needed: https://just.systems

# List the recipes.
default:
    @just --list

# Check formatting, lints and tests of the packages that differ from the last commit.
check:
    .ci/check

# Run all checks that CI runs before a merge (Debian, as root).
ci:
    .ci/run

# Run the benchmarks of docs/BENCHMARKS.md.
bench:
    cargo bench --workspace

# Build the web page into target/web.
web:
    .ci/web/build

# Make the Debian package and the Linux archive in target/packages (as root).
package:
    .ci/release/make-packages
