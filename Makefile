# agd, the attribute-graph daemon. The two commands that matter: `make run` and `make test`.

PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
DESTDIR     ?=
SWIFT       ?= swift

.PHONY: help run fleet test lint endurance sanitize docs site bench counts libraries release package package-test image wheel install uninstall dependencies clean
.DEFAULT_GOAL := help

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build, start agd with the host monitor, its feeder and a dashboard, until Ctrl-C
	@SWIFT="$(SWIFT)" Scripts/run

fleet: ## start three NATS servers, three daemons and a mirror of them on this machine, until Ctrl-C
	@SWIFT="$(SWIFT)" Scripts/fleet

test: ## compare the format and run all tests
	@SWIFT="$(SWIFT)" Scripts/test

lint: ## compare the sources with the committed format; "Scripts/lint --mend" writes it
	@SWIFT="$(SWIFT)" Scripts/lint

endurance: counts ## count as "make counts" does, run the tests that take an hour each, fuzz, and look for mistakes made on purpose; MINUTES=5 is shorter
	@CONFIGURATION=release SWIFT="$(SWIFT)" Scripts/simulate --seconds $$(($(or $(MINUTES),60) * 60))
	@SWIFT="$(SWIFT)" Scripts/mutations
	@SWIFT="$(SWIFT)" Scripts/fuzz $$(($(or $(MINUTES),60) * 60))
	@AGD_FLEET_SECONDS=$$(($(or $(MINUTES),60) * 60)) SWIFT="$(SWIFT)" Scripts/test --filter FleetTests
	@AGD_PROGRAMS="$${AGD_PROGRAMS:-$(CURDIR)/.build/release}" node dashboard/test/endurance.js $(MINUTES)

sanitize: ## run the tests of the modules with the address and undefined-behaviour sanitizers
	@Scripts/dependencies --tests
	@SWIFT="$(SWIFT)" Scripts/sanitize

docs: dependencies ## build the documentation of the Swift libraries, in .build/docs
	@SWIFT="$(SWIFT)" Scripts/docs

site: ## build the documentation as a site with search, in .build/site/html; checks its links
	@Scripts/site

bench: dependencies ## run the benchmarks
	@SWIFT="$(SWIFT)" Scripts/bench

counts: dependencies ## count what requests take in a released daemon, and compare it with the limits
	@Scripts/dependencies --tests
	@SWIFT="$(SWIFT)" Scripts/counts

release: dependencies ## build the programs that ship, with the Swift runtime inside
	@SWIFT="$(SWIFT)" Scripts/release

libraries: dependencies ## make static libraries for the programs that ship, in .build/static
	@Scripts/libraries

package: libraries ## make Debian packages for Debian 12 and 13 and Ubuntu 24.04, in .build
	@SWIFT="$(SWIFT)" Scripts/release
	@Scripts/package

package-test: libraries ## install, upgrade, remove and purge the packages in a new Debian (as root)
	@SWIFT="$(SWIFT)" Scripts/release
	@Scripts/package-test

image: libraries ## make a container image of the programs that ship, and try it, in .build
	@SWIFT="$(SWIFT)" Scripts/release
	@Scripts/image --test

wheel: ## make a wheel of the client in Python, in .build
	@python3 -m pip wheel --quiet --no-deps --wheel-dir .build clients/python && ls .build/agd-*.whl

install: release ## install programs, units and configuration (PREFIX, SYSCONFDIR, DESTDIR)
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" DESTDIR="$(DESTDIR)" Scripts/install

uninstall: ## remove what install put there, but configuration and state
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" DESTDIR="$(DESTDIR)" Scripts/install --remove

dependencies: ## install the Debian packages that are missing
	@Scripts/dependencies

clean: ## remove everything that was built
	rm -rf .build .run
