//go:build tools

// Package buildkitd pins BuildKit's daemon: the import keeps it in go.mod and go.sum.
package buildkitd

import _ "github.com/moby/buildkit/cmd/buildkitd"
