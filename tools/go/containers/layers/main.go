// sandbox-layers does for the emulator's container engine what well-kept libraries do better than we would: it unpacks
// the layers of images in the form overlayfs mounts, and gives the usual seccomp profile of containers.
package main

import (
	"fmt"
	"os"

	"github.com/apex/log"
)

const (
	prefix = "sandbox-layers: "
	usage  = "give `unpack` or `seccomp`; --help after either lists its options"
)

func main() {
	// The library warns of what it leaves out (devices, foreign owners); that is known, and errors are one sentence.
	log.SetLevel(log.FatalLevel)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, prefix+err.Error())
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("no command; %s", usage)
	}
	switch command, options := arguments[0], arguments[1:]; command {
	case "unpack":
		return unpackCommand(options)
	case "seccomp":
		return seccompCommand(options, os.Stdout)
	default:
		return fmt.Errorf("no command %q; %s", command, usage)
	}
}
