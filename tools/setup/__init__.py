"""Provides what a checkout or an installed package needs, one module per thing provided.

Each comes from PATH, the cache, a verified download or a build from pinned sources, in that order.
"""
