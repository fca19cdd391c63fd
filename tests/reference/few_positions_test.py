"""A few positions of the real models against logits computed by PyTorch in float32 on the dequantized weights.

few_positions_test.py PROBE DATA.jsonl. The data give token ids and, for some positions, the 32 largest logits and the logsumexp of the whole
row. `reference` must reproduce them (relative L2 error 1e-4); `onednn`, which rounds activations to 8 bits, may diverge by so much and no
more (Kullback-Leibler divergence over 33 outcomes). Exits 77, with the reason, where no model file is there."""
import json
import math
import os
import subprocess
import sys
from pathlib import Path

MAX_RELATIVE_ERROR = 1e-4
MAX_MEAN_DIVERGENCE = 0.01  # llama.cpp: 0.004 and 0.007 over all positions

probe, data = sys.argv[1:]
folder = Path(os.environ.get("GAINZ_MODELS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gainz/models")
process = subprocess.Popen([probe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(**request):
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def relative_error(found, wanted):
    return math.dist(found, wanted) / math.hypot(*wanted)


def divergence(found, found_lse, wanted, wanted_lse):
    p = [math.exp(x - wanted_lse) for x in wanted]
    q = [math.exp(x - found_lse) for x in found]
    p.append(max(1 - sum(p), 1e-12))
    q.append(max(1 - sum(q), 1e-12))
    return sum(a * math.log(a / b) for a, b in zip(p, q))


problems, seen = [], set()
divergences = {}
for line in Path(data).read_text().splitlines():
    case = json.loads(line)
    model = folder / case["model"]
    if not model.exists():
        continue
    seen.add(case["model"])
    for backend in ("reference", "onednn"):
        for row in case["rows"]:
            answer = ask(op="logits", model=str(model), backend=backend, ids=case["ids"], positions=[row["position"]], pick=row["ids"])
            where = f"{backend}, {case['model']}, {case['prompt']} @ {row['position']}"
            if "error" in answer:
                problems.append(f"{where}: {answer['error']['message']}")
                continue
            found = answer["rows"][0]
            error = relative_error(found["pick_logits"], row["logits"])
            kl = divergence(found["pick_logits"], found["logsumexp"], row["logits"], row["logsumexp"])
            divergences.setdefault((backend, case["model"]), []).append(kl)
            if backend == "reference" and error > MAX_RELATIVE_ERROR:
                problems.append(f"{where}: relative error {error:.2e}, at most {MAX_RELATIVE_ERROR:.0e}")

process.stdin.close()
if not seen:
    print("SKIP: no real model in the models folder (./setup fetches one)")
    sys.exit(77)
for (backend, model), values in divergences.items():
    mean = sum(values) / len(values)
    print(f"{backend}, {model}: mean divergence {mean:.2e} over {len(values)} positions")
    if backend == "onednn" and mean > MAX_MEAN_DIVERGENCE:
        problems.append(f"{backend}, {model}: mean divergence {mean:.2e}, at most {MAX_MEAN_DIVERGENCE}")
print("\n".join(problems) or "all as it should be")
sys.exit(1 if problems else 0)
