//! The examples of commands for `compare-see --threshold` in docs.

#[path = "../../../../../docs/examples/see_threshold.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a program of its own")]
mod see_threshold;

use see_threshold::reply;

#[test]
fn the_rust_example_compares_the_value_with_the_threshold() {
    // The knight wins a pawn and is lost: -2.
    let line = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1; d3e5";
    for (threshold, reached) in [(-3, true), (-2, true), (-1, false), (100, false)] {
        let found = reply(&format!("{line}; {threshold}")).expect("a line of the protocol");
        assert_eq!(found, reached, "{threshold}");
    }
    for wrong in ["", "8/8 w - -", line, &format!("{line}; x"), &line.replace("d3e5", "d3d4; 0")] {
        assert!(reply(wrong).is_err(), "{wrong}");
    }
}

#[cfg(feature = "system-tests")]
mod system {
    use std::process::Command;

    use crate::{run, text};

    /// An engine of which the value of every move is 0, around the loop of the page.
    const ENGINE: [&str; 2] = [
        "#include <iostream>\n#include <string>\nusing namespace std;\nstruct Position {\n    \
         explicit Position(const string& fen) { if (fen[0] != '4') throw fen; }\n    int \
         parse(const string& move) const { return stoi(move.substr(1, 1)); }\n    bool see_ge(int, \
         int threshold) const { return threshold <= 0; }\n};\nint main() {\n",
        "}\n",
    ];

    #[test]
    fn the_cpp_example_of_the_page_is_an_engine() {
        let page = include_str!("../../../../../docs/EVALUATORS.md");
        let code = page.split("```cpp\n").nth(1).and_then(|rest| rest.split("```").next());
        let folder = tempfile::tempdir().expect("a scratch folder");
        let [source, engine] = ["engine.cpp", "engine"].map(|name| folder.path().join(name));
        let program = ENGINE.join(code.expect("a block of C++"));
        std::fs::write(&source, program).expect("a file");
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-Wall", "-Werror", "-o"]).args([&engine, &source]);
        let compiled = compiler.output().expect("c++ is installed");
        assert!(compiled.status.success(), "{}", text(&compiled.stderr));
        let engine = engine.to_str().expect("UTF-8");
        let quiet = "4k3/8/8/8/8/8/8/4K3 w - -";
        let output = run(&["compare-see", "--threshold", engine, quiet], "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("5 moves"), "{}", text(&output.stdout));
        let taking = "4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -";
        let output = run(&["compare-see", "--threshold", "--captures", engine, taking], "");
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    }
}
