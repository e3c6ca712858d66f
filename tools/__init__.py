"""Set-up provides what a checkout or an installed package needs (setup/); the local stack runs on it (local/).

After `python -m tools setup` there is a `.venv`, a Pulumi engine with its Python language host, the docker-build
plugin, BuildKit and Node, each from PATH, the cache, a verified download or a build from pinned Go modules, in that
order. Set-up uses only the standard library, because nothing else is installed yet when it runs.
"""
