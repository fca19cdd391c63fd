#!/usr/bin/env python3
"""Answers a folder of reference prompts with gainz-probe, as JSON lines that a scorer reads.

  answer.py --probe build/release/bin/gainz-probe --folder DIR --name smollm2 --model FILE [--backend onednn] > out.jsonl
  answer.py ... --greedy            the greedy continuations instead of the logits
  answer.py ... --step              every id but the first of a prompt fed as a generated token, one by one

DIR holds prompts.json ({"prompts": [{"model", "id", "ids"}]}), logits-NAME.npz (prompt, position, ids, fixed_ids) and greedy-NAME.jsonl.
Needs numpy. Shows its progress on standard error."""
import argparse, json, subprocess, sys
from pathlib import Path
import numpy as np


def prompts_of(folder, name):
    entries = json.loads((folder / 'prompts.json').read_text())['prompts']
    return {e['id']: e['ids'] for e in entries if e['model'] == name}


class Probe:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + '\n')
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if 'error' in answer:
            sys.exit(f"gainz-probe: {answer['error']['message']}")
        return answer


def answer_logits(probe, args, common, prompts):
    z = np.load(args.folder / f'logits-{args.name}.npz')
    fixed = z['fixed_ids'].tolist()
    rows = {}
    for i, (prompt, position) in enumerate(zip(z['prompt'], z['position'])):
        rows.setdefault(str(prompt), []).append((int(position), z['ids'][i].tolist()))
    for number, (prompt, wanted) in enumerate(rows.items(), 1):
        print(f'\r{number} of {len(rows)} prompts: {prompt:20}', end='', file=sys.stderr, flush=True)
        wanted.sort()
        pick = list(dict.fromkeys(sum((ids for _, ids in wanted), []) + fixed))
        extra = {'num_prompt': 1} if args.step else {}
        answer = probe.ask(op='logits', ids=prompts[prompt], positions=[p for p, _ in wanted], pick=pick, top=1, **common, **extra)
        for row in answer['rows']:
            print(json.dumps({'model': args.name, 'prompt': prompt, 'position': row['position'], 'ids': pick,
                              'logits': row['pick_logits'], 'logsumexp': row['logsumexp']}))
    print(f"\n{answer['device']}, {answer['isa']}", file=sys.stderr)


def answer_greedy(probe, args, common, prompts):
    lines = (args.folder / f'greedy-{args.name}.jsonl').read_text().splitlines()
    for number, line in enumerate(lines, 1):
        want = json.loads(line)
        print(f'\r{number} of {len(lines)} prompts', end='', file=sys.stderr, flush=True)
        answer = probe.ask(op='generate', ids=prompts[want['prompt']], max_tokens=len(want['ids']), temperature=0, **common)
        print(json.dumps({'model': args.name, 'prompt': want['prompt'], 'ids': answer['ids']}))
    print(file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--probe', required=True)
    parser.add_argument('--folder', required=True, type=Path)
    parser.add_argument('--name', required=True)
    parser.add_argument('--model', required=True)
    parser.add_argument('--backend', default='')
    parser.add_argument('--kv-type', default='')
    parser.add_argument('--greedy', action='store_true')
    parser.add_argument('--step', action='store_true')
    args = parser.parse_args()
    probe = Probe(args.probe)
    common = {'model': args.model}
    if args.backend:
        common['backend'] = args.backend
    if args.kv_type:
        common['kv_type'] = args.kv_type
    (answer_greedy if args.greedy else answer_logits)(probe, args, common, prompts_of(args.folder, args.name))


main()
