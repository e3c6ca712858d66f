package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Where the program that runs apart finds the blob: its standard input.
const handedOver = "/proc/self/fd/0"

// unpackApart runs this program again in a user namespace of its own. Blob and folder are handed over open: neither they
// nor the program itself need be reachable for the ids of the namespace.
func unpackApart(job job, ids idRange) error {
	blob, err := os.Open(job.blob)
	if err != nil {
		return err
	}
	defer blob.Close()
	folder, err := os.Open(job.folder)
	if err != nil {
		return err
	}
	defer folder.Close()
	if ids.first != os.Getuid() {
		if err := folder.Chown(ids.first, ids.first); err != nil {
			return err
		}
	}
	arguments := []string{"unpack", "--blob=" + handedOver, "--to=/proc/self/fd/3"}
	arguments = append(arguments, "--media-type="+job.mediaType, "--diff-id="+job.diffID.String())
	if job.rootless {
		arguments = append(arguments, "--rootless")
	}
	var said bytes.Buffer
	again := exec.Command("/proc/self/exe", arguments...)
	again.Stdin, again.Stderr, again.ExtraFiles = blob, &said, []*os.File{folder}
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:                 syscall.CLONE_NEWUSER,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: ids.first, Size: ids.count}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: ids.firstGroup, Size: ids.count}},
		GidMappingsEnableSetgroups: !job.rootless,
		Credential:                 &syscall.Credential{NoSetGroups: job.rootless},
		Pdeathsig:                  syscall.SIGKILL,
	}
	var ended *exec.ExitError
	switch err := again.Run(); {
	case errors.As(err, &ended):
		return errors.New(strings.TrimPrefix(strings.TrimSpace(said.String()), prefix+failure(handedOver)))
	case err != nil:
		return fmt.Errorf("this machine lets it have no user namespace: %w", err)
	}
	return nil
}

// idRange is a run of the machine's ids, which are 0 and up inside a namespace.
type idRange struct{ first, firstGroup, count int }

// ownIDs are those that anyone may map.
func ownIDs() idRange { return idRange{os.Getuid(), os.Getgid(), 1} }

func parseIDs(text string) (idRange, error) {
	var first, count int
	if _, err := fmt.Sscanf(text, "%d:%d", &first, &count); err != nil || first < 1 || count < 1 {
		return idRange{}, fmt.Errorf("--ids wants two positive numbers, FIRST:COUNT, and got %q", text)
	}
	return idRange{first, first, count}, nil
}
