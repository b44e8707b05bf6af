# For a Homebrew tap; `.ci/release/fill-recipes` fills in version and sum. The address is a placeholder: no public repository exists yet.
class SargonZ80 < Formula
  desc "Z80 assembler, flasher and hardware-in-the-loop tests for RC2014 boards"
  homepage "https://example.invalid/sargon-z80"
  url "https://example.invalid/sargon-z80/releases/download/v0.1.0/sargon-z80-0.1.0-source.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    programs = {
      "tdlasm"     => "assembler/tdlasm-cli",
      "rcflash"    => "flasher/rcflash",
      "hw-tests"   => "hw-tests/cli",
      "hw-inspect" => "hw-tests/debug/inspect",
      "sargon"     => "hw-tests/chess/cli",
    }
    programs.each do |program, path|
      system "cargo", "install", "--profile", "dist", *std_cargo_args(path: path)
      generate_completions_from_executable(bin/program, "completions")
      system bin/program, "man", man1
    end
    pkgshare.install Dir["docs/packaging/examples/*"], "sargon-src"
    doc.install "docs/packaging/THIRD-PARTY.txt"
  end

  test do
    system bin/"tdlasm", "asm", pkgshare/"hello.asm", "-o", testpath/"hello.hex"
    assert_path_exists testpath/"hello.hex"
    assert_match "PASS: 20 of 20 cases", shell_output("#{bin}/hw-tests run --rig direct --count 20")
  end
end
