#!/bin/sh
# Runs a command on a display of its own (Linux), or just runs it.
if command -v xvfb-run >/dev/null 2>&1; then
  exec xvfb-run -a -s '-screen 0 1600x1200x24 -nolisten tcp' "$@"
fi
exec "$@"
