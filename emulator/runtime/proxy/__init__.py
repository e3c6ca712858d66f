"""HTTP and WebSocket connections passed on to workerd and to the ports of sandboxes."""
