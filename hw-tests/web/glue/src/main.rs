//! Makes `toolchain.js` and `toolchain_bg.wasm` of the page's module: `web-glue MODULE FOLDER`.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = args.as_slice() else {
        eprintln!("usage: web-glue MODULE FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("toolchain").typescript(false);
    // Nobody reads them, and they are a fifth of the module.
    bindgen.remove_name_section(true).remove_producers_section(true);
    // The program wasm-bindgen has this default.
    bindgen.omit_default_module_path(false);
    match bindgen.web(true).and_then(|web| web.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("web-glue: {module}: {error:#}");
            ExitCode::from(3)
        }
    }
}
