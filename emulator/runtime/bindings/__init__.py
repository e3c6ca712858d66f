"""What bindings of Workers get: how workerd is told of them, and what answers their requests."""
