#!/bin/sh
# Installs a build into an empty folder and uses it from there as others would: the library through pkg-config and through
# its CMake package, the tool with the layouts that were installed. check.sh BUILD
# Exit code 77: something it needs is not here.
set -eu

build=$1
source=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
target=
trap '[ -z "$target" ] || kill "$target"; rm -rf "$root"' EXIT

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$root/usr" >/dev/null
library=$(dirname "$(find "$root" -name libpyperf.so)")
[ -e "$library/libpyperf.so.0" ] || fail "no libpyperf.so.0 beside libpyperf.so"
# Nothing but the C interface is exported, under its version.
exported=$(nm -D --defined-only "$library/libpyperf.so.0" | awk '{ print $3 }' | grep -v '^LIBPYPERF_')
[ -n "$exported" ] || fail "nothing is exported"
others=$(echo "$exported" | grep -v '^pyperf_[a-z_]*@@LIBPYPERF_0\.1$' || true)
[ -z "$others" ] || fail "exported besides the interface: $others"

export PKG_CONFIG_PATH="$library/pkgconfig"
# shellcheck disable=SC2046  # a list of options
cc -Wall -Wextra -Werror -std=c11 -D_POSIX_C_SOURCE=200809L "$source/consumer.c" -o "$root/consumer" \
    $(pkg-config --define-variable=prefix="$root/usr" --define-variable=libdir="$library" \
        --define-variable=includedir="$root/usr/include" --cflags --libs libpyperf)

mkdir "$root/project"
cat >"$root/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(pyperf REQUIRED)
add_executable(consumer ${SOURCE}/consumer.c)
target_compile_definitions(consumer PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(consumer PRIVATE pyperf::pyperf)
EOF
cmake -S "$root/project" -B "$root/project/build" -DSOURCE="$source" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
cmake --build "$root/project/build" >/dev/null

if [ "$(id -u)" -ne 0 ]; then
    echo "check.sh: not root: the installed library and tool are not run"
    [ -n "${PYPERF_REQUIRE_ALL:-}" ] && exit 1
    exit 77
fi
python3 -c 'def burns():
    while True: pass
burns()' &
target=$!
sleep 0.5
export LD_LIBRARY_PATH="$library" PYPERF_OFFSETS_PATH="$root/usr/share/pyperf/offsets.d"
for consumer in "$root/consumer" "$root/project/build/consumer"; do
    said=$("$consumer" "$target" 2)
    echo "$said" | grep -q '^burns (<string>:2)$' || fail "$consumer said: $said"
done
said=$("$root/usr/share/bcc/tools/pyperf" -f -U -F 199 -p "$target" 2 2>/dev/null)
echo "$said" | grep -q ';burns (<string>:2) [0-9]*$' || fail "the installed tool said: $said"
echo "the installed library and tool work"
