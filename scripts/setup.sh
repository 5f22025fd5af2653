#!/bin/sh
# Makes .venv from requirements.lock: every file is checked against its hash, nothing is built but this project.
set -eu
cd "$(dirname "$0")/.."

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
        if usable "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "setup: no Python 3.11 or newer with venv was found on the PATH." >&2
    echo "setup: install one (Debian and Ubuntu: apt-get install python3 python3-venv) and run make again." >&2
    exit 1
}

if ! usable .venv/bin/python; then
    python=$(find_python)
    echo "setup: making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi

.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
    --require-hashes --only-binary :all: -r scripts/installer.lock

echo "setup: installing requirements.lock"
export VIRTUAL_ENV="$PWD/.venv"
.venv/bin/uv pip install --quiet --require-hashes --only-binary :all: -r requirements.lock
.venv/bin/uv pip install --quiet --no-deps --no-build-isolation --editable .
echo "setup: ready"
