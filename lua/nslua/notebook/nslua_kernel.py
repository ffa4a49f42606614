"""The Jupyter kernel of nslua.

ipykernel's Kernel class speaks with Jupyter; one process `nslua --kernel-worker=R,W` runs the cells. It gets requests at the
file descriptor R and sends answers at W: JSON after its length (four bytes, the highest first). What a cell prints comes
through pipes at its standard output and error output, and is passed on as it comes.

The environment variable NSLUA holds the path of the program nslua.
"""
import codecs
import fnmatch
import json
import os
import select
import signal
import struct
import subprocess
import time

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel
from IPython.core.error import StdinNotImplementedError

CHUNK = 65536  # bytes read at once
GATHER = 0.03  # seconds for which output is gathered, so that many short lines make one message


class WorkerDied(Exception):
    """The process ended while a request was under way."""


class Worker:
    """The process nslua and the pipes to it."""

    def __init__(self):
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        self.process = subprocess.Popen(
            [os.environ.get("NSLUA", "nslua"), f"--kernel-worker={requests},{answers}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            pass_fds=(requests, answers), start_new_session=True)
        os.close(requests)
        os.close(answers)
        self.streams = {}
        for name, pipe in (("stdout", self.process.stdout), ("stderr", self.process.stderr)):
            os.set_blocking(pipe.fileno(), False)
            self.streams[pipe.fileno()] = (name, codecs.getincrementaldecoder("utf-8")("replace"))
        self.busy = False
        self.gathered = {}

    def send(self, message):
        data = json.dumps(message).encode()
        data = struct.pack(">I", len(data)) + data
        while data:
            data = data[os.write(self.requests, data):]

    def read(self, size):
        parts = []
        while size > 0:
            part = os.read(self.answers, min(size, CHUNK))
            if not part:
                raise WorkerDied
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive(self):
        size, = struct.unpack(">I", self.read(4))
        return json.loads(self.read(size).decode())

    def gather(self, fd):
        """Reads what is there at once from one stream; forgets a stream that has ended."""
        name, decoder = self.streams[fd]
        while True:
            try:
                data = os.read(fd, CHUNK)
            except BlockingIOError:
                return
            if not data:
                del self.streams[fd]
                return
            self.gathered[name] = self.gathered.get(name, "") + decoder.decode(data)
            if len(data) < CHUNK:
                return

    def flush(self, show):
        for fd in list(self.streams):
            self.gather(fd)
        gathered, self.gathered = self.gathered, {}
        for name, text in gathered.items():
            if text:
                show(name, text)

    def ask(self, request, show, handle):
        """Sends a request and returns its answer. show(name, text) gets output, handle(message) other messages."""
        self.busy = True
        due = None
        try:
            self.send(request)
            while True:
                wait = None if due is None else max(0, due - time.monotonic())
                ready, _, _ = select.select([self.answers, *self.streams], [], [], wait)
                for fd in ready:
                    if fd != self.answers and fd in self.streams:
                        self.gather(fd)
                if self.gathered and due is None:
                    due = time.monotonic() + GATHER
                if self.answers in ready:
                    message = self.receive()
                    self.flush(show)
                    due = None
                    if message["type"] == "done":
                        return message
                    self.send(handle(message) or {})
                elif due is not None and time.monotonic() >= due:
                    self.flush(show)
                    due = None
        except (WorkerDied, BrokenPipeError) as error:
            self.flush(show)
            raise WorkerDied from error
        finally:
            self.busy = False

    def interrupt(self):
        if self.busy:
            os.killpg(self.process.pid, signal.SIGINT)

    def end(self):
        """Ends the process, and returns in words how it ended."""
        os.close(self.requests)
        if self.busy:
            self.process.kill()
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        os.close(self.answers)
        self.process.stdout.close()
        self.process.stderr.close()
        if code < 0:
            return f"signal {signal.Signals(-code).name}"
        return f"exit status {code}"


class NsluaKernel(Kernel):
    """The requests of Jupyter, each passed on to the worker."""

    implementation = "nslua"
    banner = "nslua: nonsmooth dynamical systems. ?x shows help about x."
    language_info = {
        "name": "lua", "version": "5.4", "mimetype": "text/x-lua", "file_extension": ".lua",
        "codemirror_mode": "lua", "pygments_lexer": "lua",
    }
    help_links = []

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        version = subprocess.run([os.environ.get("NSLUA", "nslua"), "-v"], capture_output=True, text=True, check=True)
        words = version.stdout.split()
        self.implementation_version = words[1]
        self.banner = version.stdout.strip() + "; ?x shows help about x"
        self.past = []  # (session, line, input, output): session 0 is the past, 1 the present
        self.silent = False
        self.worker = Worker()
        for kind in ("comm_open", "comm_msg", "comm_close"):
            self.shell_handlers[kind] = getattr(self, kind)
        entries = self.ask({"type": "history"}).get("entries") or []
        self.past = [(0, i + 1, text, None) for i, text in enumerate(entries)]

    # ---- the worker ----

    def show(self, name, text):
        if not self.silent:
            self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    def handle(self, message):
        """A message from a cell that runs; returns the answer."""
        kind = message["type"]
        if kind == "input":
            return self.ask_user(message["prompt"])
        if self.silent:
            return None
        if kind == "clear":
            self.send_response(self.iopub_socket, "clear_output", {"wait": message["wait"]})
        elif kind == "display":
            transient = {"display_id": message["id"]} if message.get("id") else {}
            content = {"data": message["data"], "metadata": message["metadata"] or {}, "transient": transient}
            name = "update_display_data" if message.get("update") else "display_data"
            self.send_response(self.iopub_socket, name, content)
        return None

    def ask_user(self, prompt):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return {"text": self.raw_input(prompt)}
        except KeyboardInterrupt:
            return {"interrupted": True}
        except (EOFError, StdinNotImplementedError):  # nothing is typed, or the front-end takes no input
            return {}
        finally:
            signal.signal(signal.SIGINT, self.on_interrupt)

    def ask(self, request):
        """The worker's answer. When it dies, tells so and starts another one."""
        try:
            return self.worker.ask(request, self.show, self.handle)
        except WorkerDied:
            how = self.worker.end()
            self.worker = Worker()
            text = f"the process nslua has ended ({how}); a fresh one is there, without the variables of the cells so far"
            return {"status": "error", "ename": "Ended", "evalue": text, "traceback": [text]}

    def on_interrupt(self, _number, _frame):
        self.worker.interrupt()

    def pre_handler_hook(self):
        signal.signal(signal.SIGINT, self.on_interrupt)

    def post_handler_hook(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    # ---- requests ----

    def tell_error(self, answer):
        content = {key: answer[key] for key in ("ename", "evalue", "traceback")}
        if not self.silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        self.silent, self._allow_stdin = silent, allow_stdin
        answer = self.ask({"type": "execute", "code": code, "count": self.execution_count, "silent": silent,
                           "store": store_history and not silent})
        result = answer.get("result")
        if store_history and not silent:
            self.past.append((1, self.execution_count, code, result["text/plain"] if result else None))
        if answer["status"] == "error":
            return self.tell_error(answer)
        if result and not silent:
            self.send_response(self.iopub_socket, "execute_result", {
                "execution_count": self.execution_count, "data": result, "metadata": answer.get("metadata") or {}})
        page = answer.get("page")
        payload = [{"source": "page", "data": {"text/plain": page}, "start": 0}] if page else []
        return {"status": "ok", "execution_count": self.execution_count, "payload": payload, "user_expressions": {}}

    def do_complete(self, code, cursor_pos):
        answer = self.ask({"type": "complete", "code": code[:cursor_pos]})
        start = cursor_pos - len(answer.get("prefix", ""))
        return {"status": "ok", "matches": answer.get("matches", []), "cursor_start": start, "cursor_end": cursor_pos,
                "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        end = cursor_pos
        while end < len(code) and (code[end].isalnum() or code[end] == "_"):
            end += 1
        text = self.ask({"type": "inspect", "code": code[:end]}).get("text")
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_is_complete(self, code):
        answer = self.ask({"type": "is_complete", "code": code})
        reply = {"status": answer["status"] if answer["status"] != "error" else "unknown"}
        if reply["status"] == "incomplete":
            reply["indent"] = answer["indent"]
        return reply

    def do_history(self, hist_access_type, output, raw, session=0, start=0, stop=None, n=None, pattern="*", unique=False):
        found = self.past
        if hist_access_type == "range":
            wanted = session if session and session > 0 else 1
            found = [e for e in found if e[0] == wanted and e[1] >= (start or 0) and (stop is None or e[1] < stop)]
        elif hist_access_type == "search":
            found = [e for e in found if fnmatch.fnmatchcase(e[2], pattern or "*")]
            if unique:
                found = list({e[2]: e for e in found}.values())
        if hist_access_type != "range" and n is not None:
            found = found[-n:] if n > 0 else []
        return {"status": "ok", "history": [(s, k, (text, out)) if output else (s, k, text) for s, k, text, out in found]}

    def do_shutdown(self, restart):
        self.worker.end()
        return {"status": "ok", "restart": restart}

    # ---- the controls of ns.interact ----

    async def comm_open(self, stream, ident, parent):
        """Nothing is kept of a comm: each message names the controls that it comes from."""

    async def comm_msg(self, stream, ident, parent):
        self.silent = False
        data = parent["content"]["data"]
        answer = self.ask({"type": "interact", "id": data["id"], "values": data["values"]})
        if answer["status"] == "error":
            self.tell_error(answer)

    async def comm_close(self, stream, ident, parent):
        """See comm_open."""


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=NsluaKernel)
