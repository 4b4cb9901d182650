"""nearfar cluster, MiniBatchKMeans and SpectralClustering on one file, each a process of its own: wall-clock seconds, peak memory, ACC and NMI."""

import json
import os
import subprocess
import sys
import tempfile
import time

# So that a factorisation that fills up ends itself and not the machine.
MEMORY = 16 << 30
OTHER = f"MEMORY = {MEMORY}" + """
import resource, sys, numpy as np
resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
kind, path, k, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
from sklearn.cluster import MiniBatchKMeans, SpectralClustering
X = np.load(path)["X"].astype(np.float32)
if kind == "MiniBatchKMeans":
    model = MiniBatchKMeans(k, n_init=10, random_state=0)
else:
    model = SpectralClustering(k, affinity="nearest_neighbors", random_state=0, n_jobs=-1)
np.save(out, model.fit_predict(X))
"""


def run(command, limit):
    """Seconds (None where it was not done within the limit), peak bytes, standard output and exit status."""
    clock = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            seconds = time.monotonic() - clock
            if pid:
                out.seek(0)
                return seconds, usage.ru_maxrss * 1024, out.read(), status
            if seconds > limit:
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
                return None, usage.ru_maxrss * 1024, "", status
            time.sleep(0.05)


def scores(labels, truth):
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(truth, labels)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(truth), normalized_mutual_info_score(truth, labels)


def main():
    program, path, k, limit = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    import numpy as np

    truth = np.load(path)["y"]
    print("| | seconds | peak memory | ACC | NMI |\n|---|---|---|---|---|")

    def say(name, seconds, peak, found):
        if seconds is None:
            print(f"| {name} | not done in {limit:.0f} | {peak / 2**30:.2f} GiB | | |", flush=True)
            return
        print(f"| {name} | {seconds:.0f} | {peak / 2**30:.2f} GiB | {found[0]:.4f} | {found[1]:.4f} |", flush=True)

    seconds, peak, text, status = run([program, "cluster", path, "-k", k, "--truth", "y", "--json"], limit)
    if status:
        sys.exit("nearfar cluster failed")
    summary = json.loads(text)
    found = summary["scores"]
    say("nearfar cluster", seconds, peak, (found["accuracy"], found["nmi"]))
    for kind in ["MiniBatchKMeans", "SpectralClustering"]:
        out = f"{os.environ.get('TMPDIR', '/tmp')}/nearfar-beside-{os.getpid()}.npy"
        seconds, peak, _, status = run([sys.executable, "-c", OTHER, kind, path, k, out], limit)
        if seconds is None:
            say(kind, None, peak, None)
            continue
        if status:
            print(f"| {kind} | failed ({MEMORY >> 30} GiB allowed) | {peak / 2**30:.2f} GiB | | |")
            continue
        say(kind, seconds, peak, scores(np.load(out), truth))
        os.remove(out)


main()
