package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/moby/sys/userns"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/umoci/oci/casext/blobcompress"
	"github.com/opencontainers/umoci/oci/layer"
	"github.com/opencontainers/umoci/pkg/fseval"
)

// The media types of OCI and Docker, each with the name that the library gives its compression.
var compressions = map[string]string{
	"application/vnd.oci.image.layer.v1.tar":            "",
	"application/vnd.oci.image.layer.v1.tar+gzip":       "gzip",
	"application/vnd.oci.image.layer.v1.tar+zstd":       "zstd",
	"application/vnd.docker.image.rootfs.diff.tar":      "",
	"application/vnd.docker.image.rootfs.diff.tar.gzip": "gzip",
	"application/vnd.docker.image.rootfs.diff.tar.zstd": "zstd",
}

// job is one layer to unpack.
type job struct {
	blob, mediaType, folder string
	diffID                  digest.Digest
	rootless                bool
}

func unpackCommand(arguments []string) error {
	syscall.Umask(0o022) // folders that a layer implies but does not hold are open to all
	options := flag.NewFlagSet("unpack", flag.ExitOnError)
	blob := options.String("blob", "", "the `file` that holds the layer")
	mediaType := options.String("media-type", "", "its media `type`, which tells the compression")
	diffID := options.String("diff-id", "", "the `digest` of its uncompressed content")
	folder := options.String("to", "", "an empty `folder`; when anything fails, nothing is left in it")
	rootless := options.Bool("rootless", false, "there is one id: every file belongs to it")
	held := options.Bool("held", false, "end as soon as standard input does: whoever started this is gone")
	ids := options.String("ids", "", "unpack in a new user namespace with these ids of the machine, `FIRST:COUNT`")
	_ = options.Parse(arguments) // ends the program itself
	if *blob == "" || *folder == "" || options.NArg() > 0 {
		return errors.New("unpack wants --blob, --media-type, --diff-id and --to; --help tells more")
	}
	if *held {
		go endWithInput()
	}
	wanted, err := digest.Parse(*diffID)
	if err != nil {
		return fmt.Errorf("the diff id %q of layer %s is no digest: %w", *diffID, *blob, err)
	}
	if err := requireEmpty(*folder); err != nil {
		return err
	}
	layer := job{*blob, *mediaType, *folder, wanted, *rootless}
	if err := layer.unpackWhere(*ids); err != nil {
		return errors.Join(fmt.Errorf("%s%w", failure(*blob), err), empty(*folder))
	}
	return nil
}

// endWithInput ends this program, and with it the one that runs apart; what they leave is for the next start to remove.
func endWithInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func failure(blob string) string { return fmt.Sprintf("cannot unpack layer %s: ", blob) }

// unpackWhere never unpacks outside of a user namespace, where a layer could make devices and files of other users.
func (j job) unpackWhere(ids string) error {
	switch {
	case ids != "":
		parsed, err := parseIDs(ids)
		if err != nil {
			return err
		}
		return unpackApart(j, parsed)
	case userns.RunningInUserNS():
		return j.unpack()
	case j.rootless:
		return unpackApart(j, ownIDs())
	default:
		return errors.New("this is no user namespace; give --ids or --rootless, or start this program in one")
	}
}

// open gives the blob; one that was handed over is used as it is, since its file may be closed to the ids in here.
func (j job) open() (*os.File, error) {
	if j.blob == handedOver {
		return os.Stdin, nil
	}
	return os.Open(j.blob)
}

// unpack writes the layer into the folder and checks that what it read is what the image's configuration names.
func (j job) unpack() error {
	compression, known := compressions[j.mediaType]
	if !known {
		return fmt.Errorf("%q is no media type of a layer", j.mediaType)
	}
	file, err := j.open()
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := blobcompress.GetAlgorithm(compression).Decompress(file)
	if err != nil {
		return fmt.Errorf("it is not %s: %w", compression, err)
	}
	defer content.Close()
	read := j.diffID.Algorithm().Hash()
	stream := io.TeeReader(content, read)
	format := layer.OverlayfsRootfs{UserXattr: true, MapOptions: layer.MapOptions{Rootless: j.rootless}}
	if err := layer.UnpackLayer(j.folder, stream, &layer.UnpackOptions{OnDiskFormat: format}); err != nil {
		return err
	}
	// Padding after the archive's end counts too.
	if _, err := io.Copy(io.Discard, stream); err != nil {
		return err
	}
	if found := digest.NewDigest(j.diffID.Algorithm(), read); found != j.diffID {
		return fmt.Errorf("its content has the digest %s and the image names %s: it is damaged", found, j.diffID)
	}
	return nil
}

func requireEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("cannot unpack into %s: %w", folder, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("cannot unpack into %s: it is not empty", folder)
	}
	return nil
}

// empty removes what is in the folder; a folder may be closed to its own owner, which the library knows how to open.
func empty(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		err = errors.Join(err, fseval.Rootless.RemoveAll(folder+"/"+entry.Name()))
	}
	return err
}
