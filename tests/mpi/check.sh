#!/usr/bin/env bash
# The checks of tests/mpi/test.sh: check.sh PROGRAM PLACE
set -euo pipefail
program="$1"
place="$2/run"
rm -rf "$place"
mkdir -p "$place"
cd "$place"
# More ranks than processors, as root or not: correctness is looked at, never speed. So all ranks work, also those that would stand by.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none

cluster="cluster --all-ranks"

fail() { echo "tests/mpi/check.sh: $*" >&2; exit 1; }
say() { echo "  $*"; }

# Files of a run that hold no times.
results="labels.csv factor.npy membership.npy embedding.npy weights.csv trace.csv"

# same_bits WHAT RANKS ARGUMENTS...
same_bits() {
  local what="$1" all="$2"; shift 2
  "$program" $cluster "$@" --out-dir alone --quiet
  for ranks in $all; do
    local threads=$((ranks % 2 + 1))
    mpirun -n "$ranks" "$program" $cluster "$@" --out-dir "ranks-$ranks" --threads "$threads" --quiet
    for file in $results; do
      if [ -e "alone/$file" ]; then
        cmp "alone/$file" "ranks-$ranks/$file" || fail "$what: $file differs at $ranks ranks"
      fi
    done
    grep -q '"ranks": '"$ranks" "ranks-$ranks/summary.json" || fail "$what: the summary does not tell of $ranks ranks"
  done
  rm -rf alone ranks-*
  say "$what: the same bits at $all ranks"
}

# What ends with a code, one message, and these words.
refused() {
  local code="$1" words="$2"; shift 2
  local found=0
  timeout 60 mpirun "$@" >out.txt 2>err.txt || found=$?
  [ "$found" = "$code" ] || { cat err.txt >&2; fail "exit code $found instead of $code: $*"; }
  [ "$(grep -c '^error:' err.txt)" = 1 ] || { cat err.txt >&2; fail "not one message: $*"; }
  # What mpirun itself has to say may stand within the line.
  tr '\n' ' ' <err.txt | grep -q -- "$words" || { cat err.txt >&2; fail "no word of '$words': $*"; }
}

"$program" make mixture -n 2300 --features 12 -k 5 --seed 3 -o data.csv
"$program" make mixture -n 1500 --features 30 -k 4 --seed 5 -o data.npy
same_bits "the default, by its graphs" "1 2 3 4 8" data.csv -k 5 --engine graph --confidence --truth truth
same_bits "the default, number of clusters found" "2 3" data.csv --confidence --truth truth
same_bits "the default on an NPY file" "2 4" data.npy -k 4 --levels 2,6 --confidence
same_bits "one start" "1 2 3 4 8" data.csv -k 5 --method lsdg --starts 1 --max-iter 15 --mode binned --truth truth
same_bits "a consensus, rescaled" "2 3" data.csv -k 5 --method lsdg --starts 3 --max-iter 8 --mode binned --truth truth --scale standard
same_bits "an NPY file by the cosine" "2 4" data.npy -k 4 --method lsdg --starts 1 --max-iter 8 --mode binned --metric cosine
same_bits "phals" "3 8" data.csv -k 5 --method phals --max-iter 10 --truth truth

# The first rank alone speaks, and says what working together cost.
mpirun -n 3 "$program" $cluster data.csv -k 5 --method lsdg --starts 1 --max-iter 5 --truth truth -o labels.csv 2>err.txt >out.txt
[ ! -s out.txt ] || fail "something was printed beside the labels"
[ "$(grep -c '^clusters' err.txt)" = 1 ] || fail "not one summary"
grep -q '^ranks *3, imbalance' err.txt || fail "no word of the ranks in the summary"
[ "$(wc -l <labels.csv)" = 2301 ] || fail "not all labels are there"
say "one summary, all labels"

# Ranks that have no processor stand by: the others have the work, and the same bits.
processors=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done | head -2)
work=$(echo "$processors" | wc -l)
run="data.csv -k 5 --method lsdg --starts 1 --max-iter 15 --mode binned --truth truth"
"$program" cluster $run --out-dir alone --quiet
taskset -c "$(echo $processors | tr ' ' ,)" mpirun -n 4 "$program" cluster $run --threads 1 --out-dir some 2>err.txt
for file in $results; do
  cmp "alone/$file" "some/$file" || fail "$file differs where ranks stand by"
done
grep -q "^ranks *$work ($((4 - work)) more stand by" err.txt || { cat err.txt >&2; fail "nobody says which ranks stand by"; }
grep -q '"standing_by": '"$((4 - work))" some/summary.json || fail "the summary does not tell of ranks that stand by"
found=0
timeout 60 taskset -c "$(echo $processors | tr ' ' ,)" mpirun -n 4 "$program" cluster missing.csv -k 3 >out.txt 2>err.txt || found=$?
[ "$found" = 2 ] && [ "$(grep -c '^error:' err.txt)" = 1 ] || { cat err.txt >&2; fail "a failure beside ranks that stand by ends with $found"; }
rm -rf alone some
say "of 4 ranks $work work, $((4 - work)) stand by: the same bits"

refused 2 "no such file" -n 3 "$program" $cluster missing.csv -k 3
refused 2 "must be 1 or more" -n 2 "$program" $cluster data.csv -k 0
refused 2 "all points in one process" -n 2 "$program" $cluster data.csv -k 3 --report page.html
refused 2 "binned or auto" -n 2 "$program" $cluster data.csv -k 3 --method lsdg --mode exact
refused 3 "rank . on " -n 2 "$program" $cluster data.csv -k 3 --memory 1M
{ cat data.csv; head -1 data.csv | sed 's/[^,]*/oops/'; } >oops.csv
refused 2 "oops" -n 3 "$program" $cluster oops.csv -k 3
# One rank looks elsewhere.
refused 2 "rank 1 on .*no such file" -n 1 "$program" $cluster data.csv -k 3 : -n 1 "$program" $cluster missing.csv -k 3
say "failures end with one message and the codes of the plain program"

# Without mpirun the same program is one process.
"$program" $cluster data.csv -k 5 --method lsdg --starts 1 --max-iter 5 --truth truth --json >alone.json
grep -q '"mode": "exact"' alone.json || fail "a plain start is not in exact mode"
if grep -q '"imbalance"' alone.json; then fail "a plain start tells of ranks"; fi
say "without mpirun one process"

# Killed ranks, at random moments.
for attempt in 1 2 3 4; do
  ranks=$((RANDOM % 3 + 2)) victim=$((RANDOM % ranks))
  mpirun -n "$ranks" bash -c 'echo $$ >"pid-$OMPI_COMM_WORLD_RANK"; exec "$0" "$@"' "$program" $cluster data.csv -k 5 --method lsdg --starts 1000 --truth truth --threads 1 -o killed.csv >out.txt 2>err.txt &
  job=$!
  sleep "$((RANDOM % 3 + 1)).$((RANDOM % 10))"
  kill -KILL "$(cat "pid-$victim")"
  begun=$SECONDS
  wait "$job" && fail "a run with a killed rank ended well"
  [ $((SECONDS - begun)) -le 10 ] || fail "the others went on for more than 10 seconds"
  grep -q "rank $victim" err.txt || { cat err.txt >&2; fail "nobody says that rank $victim is gone"; }
  [ ! -e killed.csv ] || fail "half a result was written"
  rm -f pid-*
done
say "a killed rank ends the others within 10 seconds, and is named"

# Runs that save themselves: ranks are killed at random moments (every iteration is saved, so many kills come inside a save), and other numbers of ranks go on.
plain="$cluster data.csv -k 5 --method lsdg --max-iter 12 --mode binned --near 16 --far 16 --truth truth --quiet"
saved="$plain --checkpoint saved --checkpoint-every 0 --resume"
# So many starts that a dozen kills come long before the end, however quick the machine.
starts=24
"$program" $plain --starts $starts --out-dir alone
numbers=(1 3 2) kills=0 late=0
for attempt in 0 1 2 3 4 5 6 7 8 9 10 11; do
  ranks=${numbers[$((attempt % 3))]} victim=$((RANDOM % ranks))
  rm -f pid-*
  mpirun -n "$ranks" bash -c 'echo $$ >"pid-$OMPI_COMM_WORLD_RANK"; exec "$0" "$@"' "$program" $saved --starts $starts --out-dir killed --threads 1 >out.txt 2>err.txt &
  job=$!
  until [ -s "pid-$victim" ]; do sleep 0.05; done
  sleep "0.$((RANDOM % 6 + 1))"
  kill -KILL "$(cat "pid-$victim")" 2>/dev/null || true
  begun=$SECONDS
  if wait "$job"; then late=$((late + 1)); break; fi
  [ $((SECONDS - begun)) -le 10 ] || fail "the others went on for more than 10 seconds"
  grep -q "rank $victim" err.txt || { cat err.txt >&2; fail "nobody says that rank $victim is gone"; }
  if grep -q '^error:' err.txt; then cat err.txt >&2; fail "a resumed run failed"; fi
  kills=$((kills + 1))
done
[ "$kills" -ge 2 ] || fail "only $kills ranks were killed"
[ "$late" = 1 ] || mpirun -n 2 "$program" $saved --starts $starts --out-dir killed
for file in $results; do
  cmp "alone/$file" "killed/$file" || fail "$file differs after $kills kills"
done
[ -z "$(ls -A saved)" ] || fail "the checkpoint was not removed"
say "after $kills kills, resumed with 1, 3 and 2 ranks: the same bits"

# What one process has saved, two go on with, and the other way round; every refusal comes once.
rm -rf killed
"$program" $saved --out-dir killed --threads 1 --starts 4 >out.txt 2>err.txt &
job=$!
until ls saved/nearfar-start-* >/dev/null 2>&1; do sleep 0.05; done
kill -KILL "$job"
wait "$job" || true
cp -r saved kept
refused 2 "seed is 8 here and 0 in the checkpoint" -n 2 "$program" $saved --starts 4 --out-dir killed --seed 8
refused 2 "holds the checkpoint of a run" -n 2 "$program" $cluster data.csv -k 5 --truth truth --checkpoint saved -o labels.csv
refused 2 "rank 1 has other data or settings than rank 0: seed is 8 here and 0 in rank 0" -n 1 "$program" $saved --starts 4 --out-dir killed : -n 1 "$program" $saved --starts 4 --out-dir killed --seed 8
mkdir elsewhere
refused 2 "choose a folder that all machines share" -n 1 "$program" $saved --starts 4 --out-dir killed : -n 1 --wdir "$place/elsewhere" "$program" ${saved/data.csv/$place/data.csv} --starts 4 --out-dir killed
touch file
refused 2 "cannot be\|not a folder" -n 2 "$program" ${saved/checkpoint saved/checkpoint file} --out-dir killed
diff -r saved kept >/dev/null || fail "a refused run has touched the checkpoint"
mpirun -n 2 "$program" $saved --starts 4 --out-dir killed
"$program" $plain --starts 4 --out-dir alone
for file in $results; do
  cmp "alone/$file" "killed/$file" || fail "two ranks went on from one process to another $file"
done
grep -q '"resumed": {' killed/summary.json || fail "the summary does not tell that the run was resumed"
say "what one process saved, two ranks went on with; refusals come once"
echo "tests/mpi: all checks passed"
