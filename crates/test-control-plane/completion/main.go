// Prints what `kubectl completion bash` of kubectl 1.31 to 1.33 prints: apart from the name, it comes from cobra.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	kubectl := &cobra.Command{Use: "kubectl", Run: func(*cobra.Command, []string) {}}
	if err := kubectl.GenBashCompletionV2(os.Stdout, true); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
