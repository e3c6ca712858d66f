"""Requests that leave sandboxes: to the object that intercepts them, to R2, or on to whom they are for."""
