// The completion script of kubectl 1.31 to 1.33, which use this version of cobra.
module kubectl-reconcile.test/completion

go 1.26

require github.com/spf13/cobra v1.8.1

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.5 // indirect
)
