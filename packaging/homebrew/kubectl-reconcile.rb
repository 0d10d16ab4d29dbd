class KubectlReconcile < Formula
  desc "Kubectl plugin that shows drift field by field and reconciles in one pass"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@RELEASES@/kubectl-reconcile-v@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "@RELEASES@/kubectl-reconcile-v@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@RELEASES@/kubectl-reconcile-v@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@RELEASES@/kubectl-reconcile-v@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "kubectl-reconcile", "kubectl_complete-reconcile"
    bash_completion.install "completions/kubectl-reconcile.bash" => "kubectl-reconcile"
    fish_completion.install "completions/kubectl-reconcile.fish"
    zsh_completion.install "completions/_kubectl-reconcile"
    man1.install Dir["man1/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/kubectl-reconcile version --client")
  end
end
