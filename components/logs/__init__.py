"""Following a Worker's log: the tail that the API begins, the WebSocket it comes through, and how events are shown."""
