#!/bin/sh
# tap starts this in place of node: a test that the run has compiled needs neither tap's loaders nor tsx, which take
# 2 s of processor time for each file. The file is the last argument.
for file; do :; done
compiled="$TEST_PROGRAM/${file#"$PWD/"}"
compiled="${compiled%.ts}.js"
if [ -f "$compiled" ]; then
  unset NODE_OPTIONS
  exec "$TEST_NODE" --enable-source-maps "$compiled"
fi
exec "$TEST_NODE" "$@"
