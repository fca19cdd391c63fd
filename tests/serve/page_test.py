"""The chat page in a headless Chromium against the real server; skips where there is no Chromium. With GAINZ_PAGE_SCREENSHOTS=FOLDER
the screenshots stay there."""
import os
import sys
import tempfile
import unittest

import chromium
import served

IDLE = "document.querySelector('#send').textContent === 'Send'"
BUSY = "document.querySelector('#send').textContent === 'Stop'"
ANSWER = "document.querySelector('.turn.assistant .text')"


class Page(served.ServedTest):
    def setUp(self):
        self.folder = os.environ.get("GAINZ_PAGE_SCREENSHOTS") or tempfile.mkdtemp(prefix="gainz-shots-")
        self.browser = chromium.Chromium(chromium.find())
        self.url = f"http://127.0.0.1:{self.server.port}/"

    def tearDown(self):
        self.assertEqual(self.browser.named("Runtime.exceptionThrown"), [])
        self.assertEqual([e["entry"]["text"] for e in self.browser.named("Log.entryAdded") if "401" not in e["entry"]["text"] and "400" not in e["entry"]["text"]], [])
        for request in self.browser.named("Network.requestWillBeSent"):
            self.assertTrue(request["request"]["url"].startswith((self.url, "data:", "about:")), request["request"]["url"])
        self.browser.close()

    def open(self):
        self.browser.open(self.url)
        self.browser.until("document.querySelector('#model').value === 'tiny'")

    def say(self, text):
        self.browser.run("document.querySelector('#prompt').focus()")
        self.browser.type(text)
        self.browser.press("Enter")

    def test_chat_by_keyboard_and_what_is_sent(self):
        self.open()
        self.assertEqual(self.browser.run("document.activeElement.id"), "prompt", "ready to type")
        self.browser.run("document.querySelector('#max_tokens').value = '12'; document.querySelector('#temperature').value = '0.5';"
                         "document.querySelector('#system').value = 'Be brief'; document.querySelector('#stop').value = 'zzz'")
        self.say("Hello there")
        self.browser.until(f"{IDLE} && document.querySelectorAll('.turn').length === 2")
        sent = [e["request"] for e in self.browser.named("Network.requestWillBeSent") if e["request"]["url"].endswith("/chat/completions")]
        for text in ('"max_tokens":12', '"temperature":0.5', '"stop":["zzz"]', '"role":"system","content":"Be brief"', '"content":"Hello there"', '"stream":true'):
            self.assertIn(text, sent[0]["postData"])
        self.assertRegex(self.browser.run("document.querySelector('.turn.assistant .note').textContent"), r"\d+ tokens · first after \d+ ms")
        self.browser.open(self.url)
        self.browser.until("document.querySelectorAll('.turn').length === 2")  # kept
        self.browser.run("document.querySelector('.turn.assistant .foot button:last-child').click()")
        self.browser.until(f"{IDLE} && document.querySelectorAll('.turn').length === 2")
        self.browser.run("document.querySelector('#new').click()")
        self.browser.until("document.querySelectorAll('.turn').length === 0")

    def test_stop_in_mid_stream_in_light_and_dark(self):
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            self.open()
            self.browser.run("document.querySelector('#new').click(); document.querySelector('#max_tokens').value = ''")
            self.say("Write for a long time")
            self.browser.until(f"{BUSY} && {ANSWER}.textContent.length > 3")
            self.browser.screenshot(os.path.join(self.folder, f"page-{scheme}.png"))
            light = self.browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] > 128")
            self.assertEqual(light, scheme == "light")
            self.browser.press("Escape")
            self.browser.until(IDLE, 5)
        self.server.until(lambda: self.server.metric("gainz_requests_running", model="tiny") == 0)
        self.browser.run("document.querySelector('#theme').click()")
        self.assertEqual(self.browser.run("document.documentElement.dataset.theme"), "light")

    def test_errors_are_shown_in_words(self):
        self.open()
        self.browser.run("document.querySelector('#new').click()")
        self.say("word " * 800)
        self.browser.until("document.querySelector('.turn .bad') !== null")
        self.assertIn("maximum context length", self.browser.run("document.querySelector('.turn .bad').textContent"))
        self.assertEqual(self.browser.run("document.querySelector('.turn .bad').getAttribute('role')"), "alert")

    def test_text_is_never_html(self):
        self.open()
        self.browser.run("""turns = [{role: 'user', content: '<img src=x onerror=alert(1)>'}, {role: 'assistant',
          content: '# Title\\n\\n<b>no</b> **bold** *soft* `code <i>` [link](https://example.com) [bad](javascript:alert(1))\\n\\n- one\\n  - inner\\n- two\\n\\n' +
                   '```js\\n<script>1</scr' + 'ipt>\\n```\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n1. first\\n2. second\\n\\nlast'}]; draw()""")
        self.assertEqual(self.browser.run("document.querySelectorAll('.turn img, .turn b, .turn i, .turn script').length"), 0)
        counts = self.browser.run("['h4','strong','em','code','a','ul li','li li','pre','table td','ol li','p'].map((s) => document.querySelectorAll('.turn.assistant .text ' + s).length)")
        self.assertEqual(counts, [1, 1, 1, 2, 1, 3, 1, 1, 2, 2, 2])
        self.assertEqual(self.browser.run("document.querySelector('.turn a').href"), "https://example.com/")
        pieces = self.browser.run("""(() => { const whole = document.querySelector('.turn.assistant .text').innerHTML, into = document.createElement('div');
          const text = turns[1].content, markdown = new Markdown(into);
          for (let i = 1; i <= text.length; ++i) markdown.draw(text.slice(0, i), i === text.length);
          return into.innerHTML === whole; })()""")
        self.assertTrue(pieces, "drawn letter by letter it is the same")

    def test_every_control_has_a_name(self):
        self.open()
        for panel in ("live", "settings"):
            self.browser.run(f"panel('{panel}', true)")
            nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
            controls = [n for n in nodes if not n["ignored"] and n.get("role", {}).get("value") in
                        ("button", "textbox", "spinbutton", "combobox", "checkbox", "link", "dialog", "region", "main", "banner", "complementary")]
            self.assertGreater(len(controls), 8)
            for node in controls:
                if node["role"]["value"] not in ("banner",):
                    self.assertTrue(node["name"]["value"], node)

    def test_live_view(self):
        self.open()
        self.browser.run("panel('live', true)")
        self.server.post("/generate", {"prompt": "Hello", "max_tokens": 5, "ignore_eos": True})
        self.browser.until("document.querySelector('#v-total').textContent !== '–' && document.querySelector('#v-kv').textContent.includes(' of ')")
        self.browser.until("document.querySelectorAll('#s-rate path').length === 2")

    def test_narrow_screens_scroll_nowhere_sideways(self):
        self.open()
        for width in (320, 375, 768):
            self.browser.resize(width, 700)
            for panel in ("", "live", "settings"):
                self.browser.run(f"panel('{panel or 'live'}', {str(bool(panel)).lower()})")
                self.browser.settle(0.05)
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width, panel)

    def test_policy_and_cache(self):
        answer = self.server.get("/")
        self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        policy = answer.headers["content-security-policy"]
        for text in ("default-src 'none'", "connect-src 'self'", "script-src 'sha256-", "style-src 'sha256-"):
            self.assertIn(text, policy)
        self.assertNotIn("unsafe", policy)
        again = self.server.get("/", **{"if-none-match": answer.headers["etag"]})
        self.assertEqual((again.status, again.body), (304, b""))


class PageWithKeys(served.ServedTest):
    options = ("--api-key", "open-sesame")

    def test_the_page_asks_for_the_key(self):
        browser = chromium.Chromium(chromium.find())
        browser.open(f"http://127.0.0.1:{self.server.port}/")
        browser.until("document.querySelector('#key-dialog').open")
        browser.type("wrong")
        browser.press("Enter")
        browser.until("!document.querySelector('#key-bad').hidden")
        browser.type("open-sesame")
        browser.press("Enter")
        browser.until("document.querySelector('#model').value === 'tiny'")
        self.assertEqual(browser.named("Runtime.exceptionThrown"), [])
        browser.close()


if __name__ == "__main__":
    if chromium.find() is None:
        print("skipped: there is no Chromium")
        sys.exit(77)
    served.main()
