#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server on the loopback for tests of downloads: http_server.py FOLDER; writes its port to FOLDER/port.

/plain/NAME serves FOLDER/NAME, parts of it too; slow in pieces with pauses; whole knows no parts; cut closes the
connection half way unless a part is asked for; endless goes on with zeros after the file; stall falls silent half way;
moved sends on to plain, round to itself, astray to a local file; all else is not there.
Each request is a line of FOLDER/requests: the path, and the part asked for.
"""
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def do_GET(self):
        part = self.headers.get("Range", "")
        with open(FOLDER / "requests", "a") as log:
            log.write(f"{self.path} {part}\n")
        _, way, name = (self.path.split("/", 2) + ["", ""])[:3]
        if way in ("moved", "round"):
            self.send_response(302)
            self.send_header("Location", f"/{'plain' if way == 'moved' else way}/{name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if way == "astray":
            self.send_response(302)
            self.send_header("Location", f"file://{FOLDER / name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path = FOLDER / name
        if way not in ("plain", "slow", "whole", "cut", "endless", "stall") or not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        start = int(re.fullmatch(r"bytes=(\d+)-", part)[1]) if part and way != "whole" else 0
        if start >= len(content) > 0 and part and way != "whole":
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if way == "endless":
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        rest = content[start:]
        if way == "endless":
            self.close_connection = True
            try:
                self.wfile.write(rest)
                while True:
                    self.wfile.write(bytes(1 << 16))
            except OSError:
                return
        if way == "stall":
            self.wfile.write(rest[:len(rest) // 2])
            self.wfile.flush()
            time.sleep(30)
            return
        if way == "cut" and not start:
            self.wfile.write(rest[:len(rest) // 2])
            self.close_connection = True
            return
        step = max(1, len(rest) // 20) if way == "slow" else len(rest)
        for at in range(0, len(rest), step):
            self.wfile.write(rest[at:at + step])
            self.wfile.flush()
            if way == "slow":
                time.sleep(0.1)


class Server(ThreadingHTTPServer):
    def handle_error(self, *words):
        pass  # a client that went away


server = Server(("127.0.0.1", 0), Handler)
(FOLDER / "port.new").write_text(str(server.server_address[1]))
os.rename(FOLDER / "port.new", FOLDER / "port")
server.serve_forever()
