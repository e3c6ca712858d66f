//go:build tools

// Package engine pins the Pulumi CLI: the import keeps it in go.mod and go.sum.
package engine

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
