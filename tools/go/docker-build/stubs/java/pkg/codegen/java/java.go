// Package java declares the one type that the docker-build plugin names when it describes a Java SDK.
package java

// PackageInfo only feeds SDK generation, which this build never does.
type PackageInfo struct {
	BuildFiles                      string            `json:"buildFiles,omitempty"`
	GradleNexusPublishPluginVersion string            `json:"gradleNexusPublishPluginVersion,omitempty"`
	Dependencies                    map[string]string `json:"dependencies,omitempty"`
}
