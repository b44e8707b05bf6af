//! The layers of the modules after assembly: no module uses one that uses it.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module with those that it may use, in order: a module uses only earlier ones.
const LAYERS: [(&str, &[&str]); 7] = [
    ("module", &[]),
    ("image", &[]),
    ("link", &["module", "image"]),
    ("object", &["module", "image", "link"]),
    ("archive", &["module", "link", "object"]),
    ("listing", &["module"]),
    ("disasm", &["image", "module"]),
];

fn files(path: &Path) -> Vec<PathBuf> {
    let folder = path.with_extension("");
    let mut found = Vec::new();
    if path.is_file() {
        found.push(path.to_owned());
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let entry = entry.path();
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "rs") {
            found.extend(files(&entry));
        }
    }
    found
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (module, allowed) in LAYERS {
        let files = files(&source.join(module).with_extension("rs"));
        assert!(!files.is_empty(), "no files of {module}");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                for (other, _) in LAYERS.iter().filter(|(other, _)| *other != module) {
                    let is_used = line.contains(&format!("crate::{other}::"));
                    let shown = file.display();
                    assert!(!is_used || allowed.contains(other), "{shown} uses {other}: {line}");
                }
            }
        }
    }
}
