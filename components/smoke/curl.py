"""Lines for a shell that work as pasted: the deployment is alive, lets a key in, and refuses who has none.

The key stays in its file: it goes through a pipe, never into the arguments, which other users of a machine can see.
"""

import shlex

from .address import Address


def lines(address: Address, key_file: str | None = None) -> list[str]:
    """Return the lines; the key is read from the file, or from SANDBOX_API_KEY where there is none."""
    curl = ["curl", "-sS"]
    if address.is_redirected:
        place = f"[{address.connect_host}]" if ":" in address.connect_host else address.connect_host
        curl += ["--connect-to", f"{address.host}:{address.port}:{place}:{address.connect_port}"]
        curl += ["--noproxy", address.host]  # a proxy of the user's would be told the name, and go where it leads
    key = f'"$(cat {shlex.quote(key_file)})"' if key_file else '"$SANDBOX_API_KEY"'
    described = shlex.join([*curl, "-H", "@-", f"{address.url}/v1/openapi.json"])
    return [
        shlex.join([*curl, f"{address.url}/health"]),
        f"printf 'Authorization: Bearer %s' {key} | {described}",
        shlex.join([*curl, "-i", f"{address.url}/v1/openapi.json"]),
    ]
