#!/bin/sh
# Sees to it that the tests find the two programs no Python package brings: a Redis and a browser.
set -eu

found() {
    for program in "$@"; do
        if command -v "$program" >/dev/null 2>&1; then
            return 0
        fi
    done
    return 1
}

missing=""
found redis-server valkey-server || missing="$missing redis-server"
found chromium || missing="$missing chromium"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ] && found apt-get; then
    echo "bring-up: installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    # shellcheck disable=SC2086 # one word per package is meant
    if ! { apt-get update -q -o Acquire::Retries=3 &&
        apt-get install -q -y --no-install-recommends -o Acquire::Retries=3 $missing; } \
        >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        echo "bring-up: apt-get could not install$missing; the end of its output is above." >&2
        exit 1
    fi
    rm -f "$log"
    exit 0
fi

echo "bring-up: the tests need these programs on the PATH:$missing" >&2
echo "bring-up: Debian and Ubuntu: sudo apt-get install$missing (valkey-server serves as well)" >&2
exit 1
