"""What deployments take: pulumi beside wrangler, a preview, redeploys under load."""
