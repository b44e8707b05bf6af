//! The time the assembler takes: `cargo bench -p tdlasm`.

mod program;

use divan::{Bencher, counter::ItemsCount};

use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble, listing};

fn main() {
    divan::main();
}

const LINES: [usize; 3] = [10_000, 100_000, 1_000_000];

fn measure(bencher: Bencher<'_, '_>, lines: usize, text: String, list: bool) {
    let loader = MemoryLoader::new().with("bench.asm", text);
    let options = Options { listing: list, ..Options::default() };
    bencher.counter(ItemsCount::new(lines)).bench(|| {
        let assembly =
            assemble(&loader, &["bench.asm".into()], &options).expect("a correct program");
        if list {
            divan::black_box(listing::render_modern(&assembly.listing, &assembly.sources));
        }
        assembly
    });
}

#[divan::bench(args = LINES, sample_count = 10)]
fn plain(bencher: Bencher<'_, '_>, lines: usize) {
    measure(bencher, lines, program::plain(lines), false);
}

#[divan::bench(args = LINES, sample_count = 10)]
fn macros(bencher: Bencher<'_, '_>, lines: usize) {
    measure(bencher, lines, program::with_macros(lines), false);
}

#[divan::bench(args = LINES, sample_count = 10)]
fn plain_with_listing(bencher: Bencher<'_, '_>, lines: usize) {
    measure(bencher, lines, program::plain(lines), true);
}
