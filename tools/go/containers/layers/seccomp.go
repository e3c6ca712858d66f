package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// names collects the values of an option that may be given again.
type names []string

func (n *names) String() string { return strings.Join(*n, ",") }

func (n *names) Set(value string) error {
	if !strings.HasPrefix(value, "CAP_") {
		return fmt.Errorf("a capability begins with CAP_")
	}
	*n = append(*n, value)
	return nil
}

// seccompCommand prints `linux.seccomp` of a runtime's configuration, for containers with these capabilities.
func seccompCommand(arguments []string, output io.Writer) error {
	var capabilities names
	options := flag.NewFlagSet("seccomp", flag.ExitOnError)
	options.Var(&capabilities, "cap", "a `capability` the container has, such as CAP_CHOWN; may be given again")
	_ = options.Parse(arguments) // ends the program itself
	if options.NArg() > 0 {
		return fmt.Errorf("seccomp has no argument %q; give --cap for each capability", options.Arg(0))
	}
	process := &specs.Process{Capabilities: &specs.LinuxCapabilities{Bounding: capabilities}}
	profile, err := seccomp.GetDefaultProfile(&specs.Spec{Process: process})
	if err != nil {
		return fmt.Errorf("cannot make the seccomp profile of this machine: %w", err)
	}
	return json.NewEncoder(output).Encode(profile)
}
