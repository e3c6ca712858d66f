//go:build tools

// Package dockerbuild pins the docker-build plugin: the import keeps it in go.mod and go.sum.
package dockerbuild

import _ "github.com/pulumi/pulumi-docker-build/provider/cmd/pulumi-resource-docker-build"
