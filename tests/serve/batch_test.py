"""gainz batch: both shapes, failures, and going on after being killed or stopped."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import served


class Batch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gainz-batch-")
        self.model, self.input, self.output = (os.path.join(self.folder.name, name) for name in ("tiny.gguf", "in.jsonl", "out.jsonl"))
        subprocess.run([served.TOOLS["make_tiny"], self.model], check=True, stdout=subprocess.DEVNULL)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, tasks):
        with open(self.input, "w") as file:
            file.writelines((task if isinstance(task, str) else json.dumps(task)) + "\n" for task in tasks)

    def command(self, *options):
        return [served.TOOLS["gainz"], "batch", self.input, "-o", self.output, "-m", self.model, "--name", "tiny", "--backend", "reference", *options]

    def run_batch(self, *options):
        return subprocess.run(self.command(*options), capture_output=True, text=True, timeout=300)

    def lines(self, path=None):
        with open(path or self.output) as file:
            return [json.loads(line) for line in file]

    def test_both_shapes(self):
        chat = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4, "seed": 1}
        self.write([{"task_id": 7, "prompt": "Hello", "max_tokens": 5, "ignore_eos": True}, "",
                    {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "tiny", **chat}},
                    {"custom_id": "7", "method": "POST", "url": "/v1/embeddings", "body": {"input": "Hello"}}])
        run = self.run_batch()
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        by_id = {json.dumps(line.get("custom_id", line.get("task_id"))): line for line in self.lines()}
        self.assertEqual(by_id["7"]["completion_tokens"], 5)
        self.assertIsInstance(by_id["7"]["text"], str)
        answer = by_id['"a"']
        self.assertEqual((answer["error"], answer["response"]["status_code"]), (None, 200))
        self.assertEqual(answer["response"]["body"]["object"], "chat.completion")
        self.assertEqual(by_id['"7"']["response"]["body"]["object"], "list")

    def test_failures_have_a_file_of_their_own(self):
        self.write([{"task_id": 1, "prompt": "Hello", "max_tokens": 1}, "no JSON", {"task_id": 2, "prompt": "x", "top_p": 7}, {"prompt": "no id"},
                    {"custom_id": "u", "url": "/none", "body": {}}, {"custom_id": "s", "url": "/generate", "body": {"prompt": "x", "stream": True}},
                    {"task_id": 3, "prompt": "word " * 2000}])
        run = self.run_batch()
        self.assertEqual(run.returncode, 1)
        self.assertIn("6 tasks failed", run.stderr)
        failures = self.lines(self.output + ".failures")
        self.assertEqual(len(failures), 6)
        by_line = {failure["line"]: failure for failure in failures}
        self.assertEqual(set(by_line), {2, 3, 4, 5, 6, 7})
        self.assertIn("top_p", by_line[3]["error"]["message"])
        self.assertIn("id", by_line[4]["error"]["message"])
        self.assertEqual(by_line[5]["status_code"], 404)
        self.assertIn("stream", by_line[6]["error"]["message"])
        self.assertEqual(by_line[7]["error"]["code"], "context_length_exceeded")
        again = self.run_batch()
        self.assertEqual((again.returncode, len(self.lines(self.output + ".failures")), len(self.lines())), (1, 6, 1), "nothing is done twice")

    def test_timeouts_are_tried_again_and_then_failures(self):
        self.write([{"task_id": 1, "prompt": "Hello", "max_tokens": 100, "ignore_eos": True, "timeout_ms": 1}])
        self.assertEqual(self.run_batch("--retries", "1").returncode, 1)
        failure = self.lines(self.output + ".failures")[0]
        self.assertEqual((failure["attempts"], failure["error"]["code"]), (2, "timeout"))

    def test_refused_before_anything_is_done(self):
        self.write([{"task_id": 1, "prompt": "a"}, {"task_id": 2, "prompt": "a"}, {"task_id": 1, "prompt": "b"}])
        run = self.run_batch()
        self.assertEqual(run.returncode, 1)
        self.assertIn("in.jsonl:3: the id 1 is also that of line 1", run.stderr)
        self.write([{"task_id": 1, "prompt": "a"}])
        with open(self.output, "w") as file:
            file.write("dear diary\n")
        run = self.run_batch()
        self.assertEqual(run.returncode, 1)
        self.assertIn("no line of a batch's output", run.stderr)
        with open(self.output) as file:
            self.assertEqual(file.read(), "dear diary\n")
        os.unlink(self.output)
        os.link(self.input, self.input + ".too")
        for name in (self.input, os.path.join(self.folder.name, ".", "in.jsonl"), self.input + ".too"):
            for options in (("-o", name), ("-o", self.output, "--failures", name)):
                same = subprocess.run([served.TOOLS["gainz"], "batch", self.input, *options], capture_output=True, text=True, timeout=60)
                self.assertEqual(same.returncode, 2, same.stderr)
                self.assertIn("is the input", same.stderr)
        same = subprocess.run([served.TOOLS["gainz"], "batch", self.input, "-o", self.output, "--failures", os.path.join(self.folder.name, ".", "out.jsonl")],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((same.returncode, os.path.exists(self.output)), (2, False), same.stderr)
        with open(self.input) as file:
            self.assertEqual(file.read(), '{"task_id": 1, "prompt": "a"}\n')
        missing = subprocess.run([served.TOOLS["gainz"], "batch", "/none.jsonl", "-o", self.output], capture_output=True, text=True)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/none.jsonl", missing.stderr)

    def test_a_torn_line_is_done_again(self):
        self.write([{"task_id": i, "prompt": "Hello", "max_tokens": 2} for i in range(3)])
        self.assertEqual(self.run_batch().returncode, 0)
        with open(self.output, "rb+") as file:
            file.truncate(os.path.getsize(self.output) - 9)
        self.assertEqual(self.run_batch().returncode, 0)
        self.assertEqual(sorted(line["task_id"] for line in self.lines()), [0, 1, 2])

    def test_killed_at_any_time_nothing_is_lost_or_done_twice(self):
        tasks = 300
        self.write([{"task_id": i, "prompt": f"Number {i}", "max_tokens": 40, "ignore_eos": True} for i in range(tasks)])
        counts = []
        for attempt in range(6):
            process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < deadline and (
                    not os.path.exists(self.output) or os.path.getsize(self.output) <= (counts[-1] if counts else 0)):
                time.sleep(0.002)
            time.sleep(0.01 * attempt)
            process.kill()
            process.wait()
            counts.append(os.path.getsize(self.output))
        self.assertEqual(self.run_batch().returncode, 0)
        self.assertEqual(sorted(line["task_id"] for line in self.lines()), list(range(tasks)))

    def test_ctrl_c_stops_and_the_same_command_goes_on(self):
        tasks = 300 if "tsan" in served.TOOLS["gainz"] else 3000  # enough to be still at work after the second has given up
        self.write([{"task_id": i, "prompt": f"Number {i}", "max_tokens": 60, "ignore_eos": True} for i in range(tasks)])
        process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and (not os.path.exists(self.output) or os.path.getsize(self.output) == 0):
            time.sleep(0.002)
        busy = self.run_batch()
        if process.poll() is None:
            self.assertIn("another batch", busy.stderr)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        self.assertIn("the same command goes on", told)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.run_batch().returncode, 0)
        self.assertEqual(sorted(line["task_id"] for line in self.lines()), list(range(tasks)))


if __name__ == "__main__":
    served.main()
