"""R2: buckets and what is configured on them; objects only as far as they keep a bucket from being deleted."""
