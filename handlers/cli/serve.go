package cli

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth/environment"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ServeOptions are the flags of the commands that are the server, each of which
// may also be a variable: --data-dir is BERTH_DATA_DIR.
type ServeOptions struct {
	Listen      string
	DataDir     string // "": the default of the user who runs it
	DatabaseURL string // "": a private PostgreSQL in the data folder
	PublicURL   string
	Mode        string // "local_trusted" or "authenticated"
	Log         string // "text" or "json"
	Keyset      string // "": keyset.json in the data folder
	Dev         bool
	Fake        bool // offers the fake sandbox provider without Dev
	// TrustedProxies are whose X-Forwarded headers are believed.
	TrustedProxies []netip.Prefix
	RunGrace       time.Duration // shortened by tests
	// ManagedSandbox is the file that describes the managed sandbox, read again at
	// SIGHUP; "": none is provisioned.
	ManagedSandbox string
	// OtherPort moves to a free port when Listen's is busy.
	OtherPort bool
	// Ready is called once, when the server answers, with its base URL; it may
	// be nil.
	Ready  func(url string)
	Getenv func(string) string
	Err    io.Writer // for the log
}

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Args:  exactly(),
	}
	options := a.serverFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		o.Ready = func(url string) { a.say("Berth answers at %s", url) }
		ctx, stop := untilStopped(cmd.Context())
		defer stop()
		return a.hooks.Serve(ctx, o)
	}
	return cmd
}

func (a *app) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Args:  exactly(),
	}
	options := a.serverFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		ctx, stop := untilStopped(cmd.Context())
		defer stop()
		version, err := a.hooks.Migrate(ctx, o)
		if err != nil {
			return err
		}
		return a.show(map[string]int64{"version": version}, func(w io.Writer) {
			writef(w, "The schema is at version %d.\n", version)
		})
	}
	return cmd
}

// untilStopped returns a context that ends when the process is asked to stop.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}

// serverFlags registers the flags; the function returns what they say, once
// they are parsed.
func (a *app) serverFlags(f *pflag.FlagSet) func() (ServeOptions, error) {
	o := ServeOptions{Getenv: a.env.Getenv, Err: a.env.Err}
	var dev bool
	var grace, proxies string
	f.StringVar(&o.Listen, "listen", a.getenv("BERTH_LISTEN", "127.0.0.1:3100"), "address to listen on")
	f.StringVar(&o.DataDir, "data-dir", a.getenv("BERTH_DATA_DIR", ""), "folder for keys, lock and the private PostgreSQL")
	f.StringVar(&o.DatabaseURL, "database-url", "", "PostgreSQL to use instead of the private one; better set DATABASE_URL, it holds a password")
	f.StringVar(&o.PublicURL, "public-url", a.getenv("BERTH_PUBLIC_URL", ""), "address under which browsers reach the server")
	f.StringVar(&o.Mode, "mode", a.getenv("BERTH_MODE", "local_trusted"), "local_trusted or authenticated")
	f.StringVar(&o.Log, "log", a.getenv("BERTH_LOG", "text"), "json or text")
	f.StringVar(&o.Keyset, "keyset", a.getenv("BERTH_KEYSET", ""), "file of the keys that encrypt secrets (default keyset.json in the data folder)")
	f.StringVar(&proxies, "trusted-proxy", a.getenv("BERTH_TRUSTED_PROXIES", ""), "proxies whose X-Forwarded headers count, as CIDR[,CIDR]: 127.0.0.1/32,10.0.0.0/8")
	f.StringVar(&o.ManagedSandbox, "managed-sandbox", a.getenv("BERTH_MANAGED_SANDBOX", ""), "JSON file of the one sandbox environment that this instance provisions; read again at SIGHUP")
	f.BoolVar(&dev, "dev", false, "offer /dev/preview")
	f.StringVar(&grace, "run-grace", a.getenv("BERTH_RUN_GRACE", environment.RunGrace.String()), "how long work lives on without a server")
	if err := f.MarkHidden("run-grace"); err != nil {
		panic(err)
	}
	return func() (ServeOptions, error) {
		if o.DatabaseURL == "" {
			o.DatabaseURL = a.getenv("BERTH_DATABASE_URL", a.getenv("DATABASE_URL", ""))
		}
		var err error
		if o.Dev = dev; !f.Changed("dev") {
			if o.Dev, err = strconv.ParseBool(a.getenv("BERTH_DEV", "false")); err != nil {
				return o, &usageError{"BERTH_DEV is true or false"}
			}
		}
		if o.RunGrace, err = time.ParseDuration(grace); err != nil || o.RunGrace <= 0 {
			return o, &usageError{fmt.Sprintf("--run-grace %q is not a duration such as 60s", grace)}
		}
		if o.TrustedProxies, err = networks(proxies); err != nil {
			return o, err
		}
		if o.PublicURL != "" && !isOrigin(o.PublicURL) {
			return o, &usageError{fmt.Sprintf("--public-url is an address such as https://berth.example, not %q", o.PublicURL)}
		}
		if o.Mode != "local_trusted" && o.Mode != "authenticated" {
			return o, &usageError{fmt.Sprintf("--mode is local_trusted or authenticated, not %q", o.Mode)}
		}
		if o.Log != "json" && o.Log != "text" {
			return o, &usageError{fmt.Sprintf("--log is json or text, not %q", o.Log)}
		}
		return o, nil
	}
}

// networks reads "CIDR[,CIDR]"; an address stands for itself alone.
func networks(text string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if address, errAddress := netip.ParseAddr(part); errAddress == nil && address.Zone() == "" {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, &usageError{fmt.Sprintf("--trusted-proxy takes networks such as 127.0.0.1/32,10.0.0.0/8, not %q", part)}
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// isOrigin reports whether a text is a scheme with a host and nothing more, which
// is all that a server can be reached at.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}
