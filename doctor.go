package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"berth/environment"
	"berth/handlers/cli"
	"berth/store"
	"berth/store/cluster"
)

// doctor looks at what this machine has for the server, each driver and the
// tests. It changes nothing.
func doctor(ctx context.Context, o cli.ServeOptions) []cli.Check {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	dir, err := dataDir(o)
	return []cli.Check{
		checkFolder(dir, err),
		checkDatabase(ctx, o, dir),
		checkClients(ctx, o),
		checkAddress(ctx, o.Listen),
		checkShell(),
		{Name: "SSH client", For: "ssh", OK: true, Found: "built in"},
		checkAgent(o.Getenv("SSH_AUTH_SOCK")),
		checkEngine(ctx),
		checkProgram("sshd", "tests", "apt install openssh-server", "/usr/sbin/sshd", "sshd"),
		checkProgram("Chromium", "tests", "apt install chromium", "chromium", "chromium-browser", "google-chrome"),
		checkProgram("Node.js", "tests", "apt install nodejs npm", "node"),
	}
}

// checkFolder tells whether the data folder is, or can be made, ours to write.
func checkFolder(dir string, err error) cli.Check {
	c := cli.Check{Name: "data folder", For: "server", Needed: true, Found: dir, Remedy: "Give a folder that you may write with --data-dir."}
	if err != nil {
		c.Found = err.Error()
		return c
	}
	near := dir
	for {
		info, err := os.Stat(near)
		if err == nil {
			c.OK = info.IsDir() && mayWrite(near)
			break
		}
		if !os.IsNotExist(err) || near == filepath.Dir(near) {
			c.Found = err.Error()
			return c
		}
		near = filepath.Dir(near)
	}
	if c.OK {
		c.Remedy = ""
	} else {
		c.Found = near + " is not a folder that you may write"
	}
	return c
}

func checkDatabase(ctx context.Context, o cli.ServeOptions, dir string) cli.Check {
	c := cli.Check{Name: "PostgreSQL", For: "server", Needed: true}
	if o.DatabaseURL != "" {
		db, err := store.Open(ctx, o.DatabaseURL, newLog(cli.ServeOptions{}))
		if err != nil {
			e := environment.AsError(err)
			c.Found, c.Remedy = e.Message, "Check the database URL, and that the database runs."
			return c
		}
		c.OK, c.Found = true, "the database of the URL answers"
		if err := db.Close(); err != nil {
			c.Found += "; closing it: " + err.Error()
		}
		return c
	}
	bin, version := cluster.Find(ctx, dir, o.Getenv)
	if bin == "" {
		c.Needed = false // one can be fetched
		c.Found, c.Remedy = "not found; the server fetches one when it starts", "apt install postgresql, or give a database with --database-url"
		return c
	}
	c.OK, c.Found = true, version+" in "+bin
	return c
}

// checkClients looks for the programs that a backup needs, of any version.
func checkClients(ctx context.Context, o cli.ServeOptions) cli.Check {
	c := cli.Check{Name: "pg_dump", For: "backup", Found: "not found"}
	found, err := cluster.FindClients(ctx, o.Getenv, 1)
	if err != nil {
		c.Remedy = "apt install postgresql-client"
		return c
	}
	newest := found[len(found)-1]
	c.OK, c.Found = true, newest.String()
	return c
}

func checkAddress(ctx context.Context, address string) cli.Check {
	c := cli.Check{Name: "address", For: "server", OK: true, Found: address + " is free"}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		c.OK, c.Found, c.Remedy = false, err.Error(), "Stop what listens there (perhaps a server of yours), or choose another with --listen."
		return c
	}
	_ = l.Close() // nobody has connected
	return c
}

func checkShell() cli.Check {
	c := cli.Check{Name: "/bin/sh", For: "local", OK: true, Found: "/bin/sh"}
	if info, err := os.Stat("/bin/sh"); err != nil || info.Mode()&0o111 == 0 {
		c.OK, c.Found, c.Remedy = false, "not found", "Install a POSIX shell as /bin/sh; without it nothing runs on Local."
	}
	return c
}

func checkAgent(socket string) cli.Check {
	c := cli.Check{Name: "SSH agent", For: "ssh", Found: socket, Remedy: "Only environments that use the agent need it: start the server with SSH_AUTH_SOCK set."}
	if socket == "" {
		c.Found = "SSH_AUTH_SOCK is not set"
		return c
	}
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		c.Found = err.Error()
		return c
	}
	_ = conn.Close() // nothing was asked
	c.OK, c.Remedy = true, ""
	return c
}

// checkProgram looks for the first of several names.
func checkProgram(name, use, remedy string, programs ...string) cli.Check {
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return cli.Check{Name: name, For: use, OK: true, Found: path}
		}
	}
	return cli.Check{Name: name, For: use, Found: "not found", Remedy: remedy}
}
