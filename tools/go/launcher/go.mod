module pulumi-cloudflare-sandbox/tools/launcher

go 1.26.0
