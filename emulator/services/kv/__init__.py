"""Workers KV: namespaces, and keys and values as far as tools need them."""
