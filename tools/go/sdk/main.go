// Command sdk writes the SDKs of a plugin for TypeScript and Go from its schema: `sdk SCHEMA NODEJS GO`.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// tool is named in the head of every file.
const tool = "make sdk"

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: sdk SCHEMA NODEJS GO"))
	}
	pkg, err := read(os.Args[1])
	if err != nil {
		fail(err)
	}
	// With all that a package needs which is installed from a folder.
	typescript, err := nodejs.GeneratePackage(tool, pkg, nil, nil, true, nil)
	if err != nil {
		fail(err)
	}
	gofiles, err := golang.GeneratePackage(tool, pkg, nil)
	if err != nil {
		fail(err)
	}
	for folder, files := range map[string]map[string][]byte{os.Args[2]: typescript, os.Args[3]: gofiles} {
		if err := write(folder, files); err != nil {
			fail(err)
		}
	}
}

func read(path string) (*schema.Package, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, err
	}
	pkg, problems, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	if problems.HasErrors() {
		return nil, problems
	}
	return pkg, nil
}

func write(folder string, files map[string][]byte) error {
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sdk:", err)
	os.Exit(1)
}
