// Command sandboxes deploys a stack of sandboxes by Pulumi's Automation API: `go run . up`, `preview` or `destroy`.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"

	sandbox "pulumi-cloudflare-sandbox/sdk/go/cloudflaresandbox"
)

// sandboxes is what is deployed: one stack of sandboxes in two kinds, with a preview domain.
func sandboxes(ctx *pulumi.Context) error {
	settings := config.New(ctx, "")
	most := 5
	if said := settings.GetInt("maxInstances"); said != 0 {
		most = said
	}
	throwAway := sandbox.StackEnvironmentThrowAway
	lite := sandbox.StackContainerInstanceTypeLite
	stack, err := sandbox.NewSandboxStack(ctx, "sandboxes", &sandbox.SandboxStackArgs{
		Name:        pulumi.StringRef("sandboxes"),
		Environment: &throwAway,
		Image:       &sandbox.StackImageSettingsArgs{Files: map[string]string{"/etc/motd": "motd.txt"}},
		Container:   &sandbox.StackContainerSettingsArgs{InstanceType: &lite, MaxInstances: &most},
		FurtherSandboxes: map[string]sandbox.StackFurtherSandboxSettingsArgs{"shell": {
			ClassName: "SandboxShell",
			Container: &sandbox.StackContainerSettingsArgs{MaxInstances: pulumi.IntRef(2)},
		}},
		Domain: &sandbox.StackDomainSettingsArgs{
			Hostname: "box.previews.example",
			Zone:     pulumi.StringRef("previews.example"),
		},
		Access: &sandbox.StackAccessSettingsArgs{ApiKeys: map[string]sandbox.StackApiKeySettingsArgs{"team": {
			Sha256: strings.Repeat("6b", 32),
			Tenant: "team",
			Scopes: []string{"exec", "files:*"},
		}}},
		Secrets: pulumi.StringMap{"MODEL_API_KEY": settings.RequireSecret("modelApiKey")},
	})
	if err != nil {
		return err
	}
	ctx.Export("workerName", stack.WorkerName)
	ctx.Export("previewHostname", stack.PreviewHostname)
	ctx.Export("images", stack.Images)
	return nil
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, said []string) error {
	stack, err := auto.UpsertStackInlineSource(ctx, "dev", "languages", sandboxes, auto.WorkDir("."))
	if err != nil {
		return err
	}
	switch strings.Join(said, " ") {
	case "preview":
		_, err = stack.Preview(ctx, optpreview.ProgressStreams(os.Stdout))
	case "up":
		_, err = stack.Up(ctx, optup.ProgressStreams(os.Stdout))
	case "destroy":
		_, err = stack.Destroy(ctx, optdestroy.ProgressStreams(os.Stdout))
	default:
		return fmt.Errorf("say preview, up or destroy")
	}
	if err != nil {
		os.Exit(1) // Pulumi has said why
	}
	return nil
}
