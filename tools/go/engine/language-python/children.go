package main

import (
	"context"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// children are the Python processes this host has started. Each has a process group of its own, so that Ctrl-C in a
// terminal reaches only the engine (Python would print a traceback) and so that killing one takes its offspring along.
type children struct {
	mutex   sync.Mutex
	running map[int]struct{}
}

// run starts the command and waits for it; it dies with the context and, on Linux, with this process.
func (c *children) run(ctx context.Context, command *exec.Cmd) error {
	// A parent-death signal is tied to the thread that started the child, so that thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	command.SysProcAttr = ownGroup()
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	if err := command.Start(); err != nil {
		return err
	}
	c.add(command.Process.Pid)
	defer c.remove(command.Process.Pid)
	err := command.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (c *children) killAll() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for pid := range c.running {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

func (c *children) add(pid int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.running == nil {
		c.running = map[int]struct{}{}
	}
	c.running[pid] = struct{}{}
}

func (c *children) remove(pid int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.running, pid)
}
