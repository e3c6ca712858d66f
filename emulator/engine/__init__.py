"""Containers on this machine, without a Docker engine: images unpacked once, each instance run by runc.

`engine.Engine` is the only way in. Every instance lives in a user, pid, mount and network namespace of its own, held by
one small supervisor process; when that ends, for whatever reason, the kernel ends and unmounts all of it. Nothing here
knows of Workers, Durable Objects or Cloudflare's API.
"""
