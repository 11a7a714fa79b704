#!/usr/bin/env bash
# docs/paired.sh ROUNDS 'COMMAND A' 'COMMAND B'
#
# Runs two workload commands in turn, ROUNDS times over, and prints the ratio of their events per
# second (A / B) for each round, then the median of the ratios. A machine whose speed drifts slows
# both of a pair alike.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: docs/paired.sh ROUNDS 'COMMAND A' 'COMMAND B'" >&2; exit 2; }
rounds=$1 a=$2 b=$3

# The sixth field of a workload's line is events per second.
rate() { $1 | awk 'NF >= 6 { rate = $6 } END { print rate }'; }

ratios=()
for ((i = 1; i <= rounds; i++)); do
  ra=$(rate "$a") rb=$(rate "$b")
  ratio=$(awk -v a="$ra" -v b="$rb" 'BEGIN { printf "%.3f", a / b }')
  ratios+=("$ratio")
  echo "round $i: A $ra, B $rb, A/B $ratio"
done
printf '%s\n' "${ratios[@]}" | sort -n |
  awk '{ r[NR] = $1 } END { m = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
         printf "median of A/B: %.3f (%.3f to %.3f)\n", m, r[1], r[NR] }'
