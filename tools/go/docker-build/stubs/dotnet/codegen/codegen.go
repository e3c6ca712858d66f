// Package codegen declares the one type that the docker-build plugin names when it describes a .NET SDK.
package codegen

// CSharpPackageInfo only feeds SDK generation, which this build never does.
type CSharpPackageInfo struct {
	PackageReferences    map[string]string `json:"packageReferences,omitempty"`
	RespectSchemaVersion bool              `json:"respectSchemaVersion,omitempty"`
}
