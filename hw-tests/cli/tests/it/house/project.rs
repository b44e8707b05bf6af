//! The project file of this repository, which editors use as well.

use tdlasm::asm::{Options, run};
use tdlasm::project::{FILE_NAME, Project};
use tdlasm::source::DiskLoader;

#[test]
fn programs_of_the_project_file_assemble_without_messages() {
    let project = Project::read(&super::root().join(FILE_NAME)).expect("a project file");
    assert!(!project.programs().is_empty());
    for program in project.programs() {
        let mut options = Options::default();
        project.add_to(&mut options, Some(program));
        let messages = run(&DiskLoader, &program.files, &options).diagnostics;
        assert!(messages.is_empty(), "{:?}: {messages:?}", program.files);
    }
}
