// Command pulumi-language-python lets the Pulumi engine run Python programs, policy packs and plugin folders.
//
// It is used only where the vendor's language host cannot be downloaded. It finds the interpreter with the SDK's own
// toolchain package, so the `virtualenv` and `toolchain` runtime options mean what they mean there. Code generation
// (`pulumi import` without --generate-code=false, `pulumi package add`) is left to the vendor's host.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// engineCheckInterval is how often the host looks whether the engine is still there.
const engineCheckInterval = 2 * time.Second

func main() {
	// The engine passes -tracing and, for older protocols, -root; both are accepted and not needed.
	flag.String("tracing", "", "accepted for compatibility")
	flag.String("root", "", "accepted for compatibility")
	flag.Parse()

	host := &languageHost{engineAddress: flag.Arg(0)}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-language-python: cannot serve on loopback: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(handle.Port)

	// An engine that is killed sends no signal; without this the host would stay for ever.
	engineGone, cancel := context.WithCancel(context.Background())
	if err := rpcutil.Healthcheck(engineGone, host.engineAddress, engineCheckInterval, cancel); err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-language-python: cannot watch the engine: %v\n", err)
		os.Exit(1)
	}

	// The engine waits ten seconds for a host that ignores its interrupt, so leave at once and without a word.
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT, syscall.SIGTERM)
	select {
	case <-interrupted:
	case <-engineGone.Done():
	case <-handle.Done:
	}
	host.children.killAll()
}
