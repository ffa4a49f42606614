"""The tests of jupyter_kernel_test on the kernel nslua, and tests of what they leave out. JUPYTER_PATH must lead to it."""
import time
import unittest
from queue import Empty

import jupyter_kernel_test


class NsluaTests(jupyter_kernel_test.KernelTests):
    kernel_name = "nslua"
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print 'hello, world'"
    code_stderr = "io.stderr:write 'oops\\n'"
    completion_samples = [
        {"text": "ns.solve_i", "matches": ["solve_ivp"]},
        {"text": "zer", "matches": ["zeros"]},
        {"text": "ns.numerics.lc", "matches": ["lcp"]},
    ]
    complete_code_samples = ["1", "local a = 1\nprint(a)", "x = [[\n]]", "for i = 1, 2 do end", "?ns.eye", "ns.eye?"]
    incomplete_code_samples = ["for i = 1, 2 do", "print(", "x = [[", "local function f()\n  g()"]
    invalid_code_samples = ["x = = 1", "end", "print 'a", "1 +* 2"]
    code_page_something = "?ns.solve_ivp"
    code_generate_error = "error 'bad'"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "local a = 3\na ^ 2", "result": "9.0"},
        {"code": "matrix { { 1, 2 }, { 3, 4 } }", "mime": "text/latex",
         "result": "$$\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}$$"},
    ]
    code_display_data = [
        {"code": "ns.plot.plot({ 1, 2 }, { 3, 4 })", "mime": "image/png"},
        {"code": "ns.display(ns.notebook.html '<b>x</b>')", "mime": "text/html"},
        {"code": "ns.notebook.options { pictures = 'svg' } ns.plot.figure():subplot(1, 1, 1):plot({ 1, 2 }, { 3, 4 })",
         "mime": "image/svg+xml"},
    ]
    code_history_pattern = "6 [*]?7"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "ns.solve_ivp"
    code_clear_output = "ns.notebook.clear()"

    def run_cell(self, code, **more):
        self.flush_channels()
        return self.execute_helper(code, **more)

    def stdout(self, messages):
        return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")

    def value(self, code):
        _, messages = self.run_cell(code)
        return [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "execute_result"][0]

    def test_output_comes_while_the_cell_runs(self):
        self.flush_channels()
        self.kc.execute("io.write 'first' local t = os.clock() while os.clock() < t + 1 do end print ' last'")
        start, texts = time.monotonic(), []
        while "last" not in "".join(text for _, text in texts):
            message = self.kc.get_iopub_msg(timeout=10)
            if message["msg_type"] == "stream":
                texts.append((time.monotonic() - start, message["content"]["text"]))
        self.assertEqual("first", texts[0][1])
        self.assertLess(texts[0][0] + 0.5, texts[-1][0])
        self.get_non_kernel_info_reply(timeout=10)

    def test_pictures_stand_between_what_is_printed(self):
        _, messages = self.run_cell("print 'a' ns.display(ns.notebook.html 'x') print 'b'")
        self.assertEqual(["stream", "display_data", "stream"], [m["msg_type"] for m in messages])

    def test_a_figure_is_shown_once(self):
        for code in ("local fig = ns.plot.figure() fig:subplot(1, 1, 1):plot({ 1, 2 }, { 1, 2 }) fig:show()",
                     "local fig = ns.plot.figure() fig:subplot(1, 1, 1):plot({ 1, 2 }, { 1, 2 })\nfig",
                     "ns.plot.plot({ 1, 2 }, { 1, 2 })\nns.plot.title 't'"):
            _, messages = self.run_cell(code)
            self.assertEqual(1, len(messages), code)
            metadata = messages[0]["content"]["metadata"]
            self.assertTrue(not metadata or metadata["image/png"]["width"] == 614)

    def test_traceback_marks_the_line(self):
        reply, messages = self.run_cell("local x = nil\nlocal y = 2\nx.y = y")
        text = "\n".join(messages[0]["content"]["traceback"])
        count = reply["content"]["execution_count"]
        self.assertIn(f"cell [{count}], line 3", text)
        self.assertIn("---->\x1b[0m   3 x.y = y", text)
        self.assertEqual(f"[{count}]:3: attempt to index a nil value (local 'x')".replace("local", "global"),
                         messages[0]["content"]["evalue"])

    def interrupted(self, code):
        """Runs a cell for ever, interrupts it; returns the seconds until it has ended."""
        self.run_cell("kept = 17")
        self.flush_channels()
        self.kc.execute("print 'on'\n" + code)
        while True:
            message = self.kc.get_iopub_msg(timeout=10)
            if message["msg_type"] == "stream":
                break
        time.sleep(0.2)
        start = time.monotonic()
        self.km.interrupt_kernel()
        reply = self.get_non_kernel_info_reply(timeout=10)
        elapsed = time.monotonic() - start
        self.assertEqual("error", reply["content"]["status"])
        self.assertEqual("Interrupted", reply["content"]["ename"])
        self.assertEqual("17", self.value("kept"))
        return elapsed

    def test_interrupt_of_lua(self):
        self.assertLess(self.interrupted("while true do end"), 0.1 * self.slack)

    def test_interrupt_of_a_long_run(self):
        code = """
          local ball = ns.LagrangianLinearTIDS({ 1, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
          ball:setFExtPtr { -9.81, 0, 0 }
          local floor = ns.Interaction(ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR({ { 1, 0, 0 } }))
          local nsds = ns.NonSmoothDynamicalSystem(0, 1e6)
          nsds:insertDynamicalSystem(ball)
          nsds:link(floor, ball)
          ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-5), ns.MoreauJeanOSI(0.5), ns.LCP()):run { every = 10000000 }"""
        self.assertLess(self.interrupted(code), 0.1 * self.slack)

    def test_interrupt_without_a_cell(self):
        self.run_cell("kept = 18")
        self.km.interrupt_kernel()
        self.assertEqual("18", self.value("kept"))

    def test_the_process_that_crashes_is_replaced(self):
        code = "local f = io.open '/proc/self/stat' local pid = f:read(20):match '%d+' f:close() "
        code += "os.execute('kill -KILL ' .. pid)\nwhile true do end"
        reply, messages = self.run_cell("lost = 1")
        reply, messages = self.run_cell(code)
        self.assertEqual("error", reply["content"]["status"])
        self.assertEqual("the process nslua has ended (signal SIGKILL); a fresh one is there, without the variables of "
                         "the cells so far", messages[-1]["content"]["evalue"])
        self.assertEqual("nil", self.value("lost"))
        reply, messages = self.run_cell("print 'bye' os.exit(3)")
        self.assertEqual("bye\n", self.stdout(messages))
        self.assertIn("exit status 3", messages[-1]["content"]["evalue"])
        self.assertEqual("nil", self.value("lost"))

    def test_input(self):
        self.flush_channels()
        self.kc.execute("local a, b = io.read('l', 'n')\nprint(a .. '!', b + 1)", allow_stdin=True)
        for text in ("name", "41"):
            self.assertEqual("input_request", self.kc.get_stdin_msg(timeout=10)["msg_type"])
            self.kc.input(text)
        self.assertEqual("ok", self.get_non_kernel_info_reply(timeout=10)["content"]["status"])
        texts = []
        while True:
            try:
                message = self.kc.get_iopub_msg(timeout=0.2)
            except Empty:
                break
            if message["msg_type"] == "stream":
                texts.append(message["content"]["text"])
        self.assertEqual("name!\t42\n", "".join(texts))

    def test_input_that_nobody_gives(self):
        self.flush_channels()
        self.kc.execute("print(io.read())", allow_stdin=False)
        self.assertEqual("ok", self.get_non_kernel_info_reply(timeout=10)["content"]["status"])

    def test_progress_updates_in_place(self):
        _, messages = self.run_cell("for _ in ns.progress(3, 'runs') do end")
        self.assertEqual(["display_data", "update_display_data"], [m["msg_type"] for m in messages])
        self.assertEqual(1, len({m["content"]["transient"]["display_id"] for m in messages}))
        self.assertRegex(messages[1]["content"]["data"]["text/plain"], r"^runs: 3 of 3, \d+ s$")

    def test_display_is_updated(self):
        _, messages = self.run_cell("local d = ns.display(1)\nd:update(2);")
        self.assertEqual([("display_data", "1"), ("update_display_data", "2")],
                         [(m["msg_type"], m["content"]["data"]["text/plain"]) for m in messages])

    def test_sliders_call_the_kernel(self):
        _, messages = self.run_cell("ns.interact { a = { 0, 1 }, n = { 1, 9 }, function(p) print(p.a, p.n) return p.n end }")
        data = messages[-1]["content"]["data"]["text/html"]
        self.assertIn('data-name="n" data-kind="number" min="1" max="9" step="1" value="5"', data)
        self.assertIn("<pre>5</pre>", data)
        self.assertEqual("0.5\t5\n", self.stdout(messages))
        name = data.split('<div id="')[1].split('"')[0]
        self.flush_channels()
        session = self.kc.session
        for kind, content in (("comm_open", {"target_name": "nslua.interact", "data": {}}),
                              ("comm_msg", {"data": {"id": name, "values": {"a": 0.25, "n": 7}}})):
            message = session.msg(kind, {"comm_id": "c1", **content})
            self.kc.shell_channel.send(message)
        texts = []
        while len(texts) < 2:
            message = self.kc.get_iopub_msg(timeout=10)
            if message["msg_type"] in ("stream", "display_data", "error"):
                content = message["content"]
                texts.append(content.get("text") or content["data"]["text/plain"])
        self.assertEqual(["0.25\t7\n", "7"], texts)

    def test_help_inside_of_a_call(self):
        code = "local sol = ns.solve_ivp(f, { 0, 1 }, { 1 }, { rt"
        self.kc.inspect(code, len(code))
        reply = self.get_non_kernel_info_reply()
        self.assertIn("ns.solve_ivp(", reply["content"]["data"]["text/plain"])

    def test_indent_and_places(self):
        self.kc.is_complete("for i = 1, 2 do\n  if x then")
        self.assertEqual("    ", self.get_non_kernel_info_reply()["content"]["indent"])
        self.kc.complete("local été = ns.zer", 18)
        content = self.get_non_kernel_info_reply()["content"]
        self.assertEqual((["zeros"], 15, 18), (content["matches"], content["cursor_start"], content["cursor_end"]))

    def test_restart(self):
        self.run_cell("kept = 1")
        self.km.restart_kernel()
        self.kc.wait_for_ready(timeout=30)
        self.assertEqual("nil", self.value("kept"))

    slack = 1


if __name__ == "__main__":
    import sys
    if "--slow" in sys.argv:  # a build with sanitizers
        sys.argv.remove("--slow")
        NsluaTests.slack = 10
    unittest.main()
