// The launcher starts commands for the sandbox server, which is Node: that copies all its memory for each command it
// starts, and waits meanwhile. This program is small and starts them by vfork.
//
// Requests on standard input are a length and parts that end in NUL: "run", an id, a directory, a command and its
// environment; or "drop" and the id of a command whose output nobody reads any more. News on standard output are a
// letter, an id, a length and bytes: r ready, s started (its pid), o and e output, x ended (its status), c over: all output
// was read, f could not be started (why).
package main

import (
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const (
	shell   = "/bin/bash"
	most    = 64 * 1024
	perLook = 64

	sysPidfdOpen = 434
)

type command struct {
	id, pid int
	open    int // streams that may still say something
	ended   bool
}

// What a descriptor is: a stream of a command, or, without a letter, its process.
type source struct {
	of     *command
	letter byte
}

type launcher struct {
	events  int
	null    int
	sources map[int]source
	asked   []byte
	news    []byte
	buffer  [most]byte
}

func main() {
	runtime.LockOSThread()
	events, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	exitOn(err)
	null, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	exitOn(err)
	syscall.CloseOnExec(0)
	l := &launcher{events: events, null: null, sources: map[int]source{}}
	l.listen(0, source{})
	own, _, missing := syscall.Syscall(sysPidfdOpen, uintptr(os.Getpid()), 0, 0)
	if missing != 0 { // without it no end of a command would be heard
		exitOn(missing)
	}
	syscall.Close(int(own))
	l.tell('r', 0, nil)
	l.send()
	for ready := make([]syscall.EpollEvent, perLook); ; {
		count, err := syscall.EpollWait(l.events, ready, -1)
		if err != nil && err != syscall.EINTR {
			exitOn(err)
		}
		for _, each := range ready[:max(count, 0)] {
			l.hear(int(each.Fd))
		}
		l.send()
	}
}

func exitOn(err error) {
	if err != nil {
		os.Stderr.WriteString("launcher: " + err.Error() + "\n")
		os.Exit(1)
	}
}

func (l *launcher) listen(descriptor int, what source) {
	l.sources[descriptor] = what
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(descriptor)}
	exitOn(syscall.EpollCtl(l.events, syscall.EPOLL_CTL_ADD, descriptor, &event))
}

func (l *launcher) forget(descriptor int) {
	delete(l.sources, descriptor)
	syscall.Close(descriptor)
}

func (l *launcher) hear(descriptor int) {
	what, known := l.sources[descriptor]
	switch {
	case !known: // dropped by what came before it
	case descriptor == 0:
		l.obey()
	case what.letter == 0:
		l.reap(descriptor, what.of)
	default:
		l.read(descriptor, what)
	}
}

func (l *launcher) tell(letter byte, id int, bytes []byte) {
	l.news = append(l.news, letter)
	l.news = binary.BigEndian.AppendUint32(l.news, uint32(id))
	l.news = binary.BigEndian.AppendUint32(l.news, uint32(len(bytes)))
	l.news = append(l.news, bytes...)
}

func (l *launcher) send() {
	for left := l.news; len(left) > 0; {
		count, err := syscall.Write(1, left)
		if err != nil && err != syscall.EINTR {
			os.Exit(0) // nobody is there any more
		}
		left = left[max(count, 0):]
	}
	l.news = l.news[:0]
}

func (l *launcher) read(descriptor int, what source) {
	count, err := syscall.Read(descriptor, l.buffer[:])
	if err == syscall.EINTR {
		return
	}
	if count > 0 {
		l.tell(what.letter, what.of.id, l.buffer[:count])
		return
	}
	l.forget(descriptor)
	what.of.open--
	l.settle(what.of)
}

func (l *launcher) reap(descriptor int, ended *command) {
	var status syscall.WaitStatus
	if pid, _ := syscall.Wait4(ended.pid, &status, syscall.WNOHANG, nil); pid != ended.pid {
		return
	}
	l.forget(descriptor)
	ended.ended = true
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	l.tell('x', ended.id, []byte(strconv.Itoa(code)))
	l.settle(ended)
}

func (l *launcher) settle(one *command) {
	if one.ended && one.open == 0 {
		l.tell('c', one.id, nil)
	}
}

func (l *launcher) obey() {
	count, err := syscall.Read(0, l.buffer[:])
	if err == syscall.EINTR {
		return
	}
	if count <= 0 {
		os.Exit(0)
	}
	l.asked = append(l.asked, l.buffer[:count]...)
	for len(l.asked) >= 4 {
		end := 4 + int(binary.BigEndian.Uint32(l.asked))
		if len(l.asked) < end {
			return
		}
		parts := strings.Split(strings.TrimSuffix(string(l.asked[4:end]), "\x00"), "\x00")
		l.asked = l.asked[end:]
		id, _ := strconv.Atoi(parts[1])
		if parts[0] == "drop" {
			l.drop(id)
		} else {
			l.run(id, parts[2], parts[3], parts[4:])
		}
	}
}

func (l *launcher) drop(id int) {
	for descriptor, each := range l.sources {
		if each.letter != 0 && each.of.id == id {
			l.forget(descriptor)
			each.of.open--
			l.settle(each.of)
		}
	}
}

func (l *launcher) run(id int, folder, line string, environment []string) {
	started := &command{id: id}
	err := l.start(started, folder, line, environment)
	if err != nil {
		l.tell('f', id, []byte(err.Error()))
		return
	}
	l.tell('s', id, []byte(strconv.Itoa(started.pid)))
}

func (l *launcher) start(started *command, folder, line string, environment []string) error {
	out, err := pair()
	if err != nil {
		return err
	}
	defer syscall.Close(out[1])
	errors, err := pair()
	if err != nil {
		syscall.Close(out[0])
		return err
	}
	defer syscall.Close(errors[1])
	process := -1
	attributes := &syscall.ProcAttr{
		Dir:   folder,
		Env:   environment,
		Files: []uintptr{uintptr(l.null), uintptr(out[1]), uintptr(errors[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &process},
	}
	started.pid, err = syscall.ForkExec(shell, []string{shell, "-c", line}, attributes)
	if err != nil {
		syscall.Close(out[0])
		syscall.Close(errors[0])
		return err
	}
	started.open = 2
	l.listen(out[0], source{started, 'o'})
	l.listen(errors[0], source{started, 'e'})
	l.listen(process, source{of: started})
	return nil
}

func pair() ([2]int, error) {
	return syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
}
