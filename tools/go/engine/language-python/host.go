package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// alreadyReported is the exit code by which a Python program says that the user has seen its error.
const alreadyReported = 32

type languageHost struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engineAddress string
	children      children
}

func (host *languageHost) Handshake(
	_ context.Context, request *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	host.engineAddress = request.GetEngineAddress()
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (host *languageHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

// GetRequiredPackages names none: set-up puts the plugins in place, and the engine still fetches on first use what it
// does not find.
func (host *languageHost) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (host *languageHost) About(
	ctx context.Context, request *pulumirpc.AboutRequest,
) (*pulumirpc.AboutResponse, error) {
	python, err := resolve(request.GetInfo())
	if err != nil {
		return nil, err
	}
	// The toolchain's own About also asks pip, which takes longer than all else that the engine does before a program.
	command, err := python.Command(ctx, "-c", "import sys; print(sys.executable, sys.version.split()[0], sep='\\n')")
	if err != nil {
		return nil, err
	}
	said, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot start Python (%s): %w", command.Path, err)
	}
	executable, number, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return &pulumirpc.AboutResponse{Executable: executable, Version: number}, nil
}

func (host *languageHost) GetProgramDependencies(
	ctx context.Context, request *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	python, err := resolve(request.GetInfo())
	if err != nil {
		return nil, err
	}
	packages, err := python.ListPackages(ctx, request.GetTransitiveDependencies())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	for _, found := range packages {
		response.Dependencies = append(response.Dependencies,
			&pulumirpc.DependencyInfo{Name: found.Name, Version: found.Version})
	}
	return response, nil
}

func (host *languageHost) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest,
	stream grpc.ServerStreamingServer[pulumirpc.InstallDependenciesResponse],
) error {
	python, err := resolve(request.GetInfo())
	if err != nil {
		return err
	}
	closer, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(stream, request.GetIsTerminal())
	if err != nil {
		return err
	}
	err = python.InstallDependencies(stream.Context(), request.GetInfo().GetProgramDirectory(),
		request.GetUseLanguageVersionTools(), true /*showOutput*/, stdout, stderr)
	return errors.Join(err, closer.Close())
}

// Run executes a Pulumi program to its end.
func (host *languageHost) Run(
	ctx context.Context, request *pulumirpc.RunRequest,
) (*pulumirpc.RunResponse, error) {
	command, err := host.programCommand(ctx, request)
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = os.Stdout, os.Stderr

	var exit *exec.ExitError
	switch err := host.children.run(ctx, command); {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == alreadyReported:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case errors.As(err, &exit):
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("the Python program ended with %v", exit)}, nil
	default:
		return nil, fmt.Errorf("cannot start Python (%s): %w", command.Path, err)
	}
}

func (host *languageHost) programCommand(ctx context.Context, request *pulumirpc.RunRequest) (*exec.Cmd, error) {
	python, err := resolve(request.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := python.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	executor, err := executorPath()
	if err != nil {
		return nil, err
	}
	info := request.GetInfo()
	program := info.GetProgramDirectory()
	if entry := info.GetEntryPoint(); entry != "" && entry != "." {
		program = filepath.Join(program, entry)
	}
	arguments := []string{
		"-u", executor,
		"--monitor", request.GetMonitorAddress(),
		"--engine", host.engineAddress,
		"--project", request.GetProject(),
		"--stack", request.GetStack(),
		"--pwd", request.GetPwd(),
		"--dry_run", strconv.FormatBool(request.GetDryRun()),
		"--parallel", strconv.Itoa(int(request.GetParallel())),
		"--organization", request.GetOrganization(),
		"--root_directory", info.GetRootDirectory(),
		program,
	}
	command, err := python.Command(ctx, append(arguments, request.GetArgs()...)...)
	if err != nil {
		return nil, err
	}
	return command, addConfiguration(command, request)
}

// addConfiguration hands the stack's configuration over by environment: arguments are visible to every user.
func addConfiguration(command *exec.Cmd, request *pulumirpc.RunRequest) error {
	// Copies, because an absent map or list would be written as null, which the SDK does not read.
	config, err := json.Marshal(maps.Collect(maps.All(request.GetConfig())))
	if err != nil {
		return err
	}
	secretKeys, err := json.Marshal(append([]string{}, request.GetConfigSecretKeys()...))
	if err != nil {
		return err
	}
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, "PULUMI_CONFIG="+string(config), "PULUMI_CONFIG_SECRET_KEYS="+string(secretKeys))
	return nil
}

// RunPlugin executes a policy pack or plugin folder; its output, port line included, goes to the engine as it comes.
func (host *languageHost) RunPlugin(
	request *pulumirpc.RunPluginRequest, stream grpc.ServerStreamingServer[pulumirpc.RunPluginResponse],
) error {
	ctx := stream.Context()
	python, err := resolve(request.GetInfo())
	if err != nil {
		return err
	}
	if err := python.ValidateVenv(ctx); err != nil {
		return err
	}
	arguments := append([]string{"-u", request.GetInfo().GetProgramDirectory()}, request.GetArgs()...)
	command, err := python.Command(ctx, arguments...)
	if err != nil {
		return err
	}
	closer, stdout, stderr, err := rpcutil.MakeRunPluginStreams(stream, false /*isTerminal*/)
	if err != nil {
		return err
	}
	defer closer.Close()
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Dir, command.Env = request.GetPwd(), append(command.Env, request.GetEnv()...)
	command.Stdout, command.Stderr = stdout, stderr

	var exit *exec.ExitError
	err = host.children.run(ctx, command)
	if errors.As(err, &exit) {
		return stream.Send(&pulumirpc.RunPluginResponse{
			Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(exit.ExitCode())}, //nolint:gosec // -1..255
		})
	}
	return err
}

func resolve(info *pulumirpc.ProgramInfo) (toolchain.Toolchain, error) {
	options := toolchain.PythonOptions{Root: info.GetRootDirectory(), ProgramDir: info.GetProgramDirectory()}
	values := info.GetOptions().GetFields()
	options.Virtualenv = values["virtualenv"].GetStringValue()
	switch name := values["toolchain"].GetStringValue(); name {
	case "":
		options.Toolchain = toolchain.Auto
	case "pip":
		options.Toolchain = toolchain.Pip
	case "poetry":
		options.Toolchain = toolchain.Poetry
	case "uv":
		options.Toolchain = toolchain.Uv
	default:
		return nil, fmt.Errorf("runtime option 'toolchain' is %q; use pip, poetry or uv", name)
	}
	return toolchain.ResolveToolchain(options)
}

// executorPath finds the SDK's script that runs a program; set-up installs it beside this binary.
func executorPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), "pulumi-language-python-exec")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the engine's installation is incomplete: %w; run `make clean-cache setup`", err)
	}
	return path, nil
}
