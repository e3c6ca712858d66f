"""R2's S3 endpoint: the same objects as over the API and through bindings, asked for with signed requests."""
