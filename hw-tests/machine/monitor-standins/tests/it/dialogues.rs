//! Replays recorded sessions of each stock monitor to its emulator: the bytes that the host sent
//! are sent to the emulator, and its output must equal the recorded output. The records are in
//! `tests/data/dialogues`; their README has the notation.

mod play;
mod record;

use monitor_standins::{Basic, CpmMonitor, MonitorModel, Romwbw, Romwbw2, Scm, ScmRelease};
use play::{Except, play, play_until};

/// MAME's chip loses characters that arrive while the monitor prints; which ones depends on its
/// speed. The emulator's receiver has tests of its own.
const TIMING: &str = "depends on the speed of the chip";
const PROGRAM: &str = "a program whose bytes are not recorded is a RET here";

const FOUR_LINES: &str = "1 REM AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\\r\
2 REM BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\\r3 REM CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC\\r\
4 REM DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD\\r";

#[test]
fn scm_1_0_as_recorded_on_mame() {
    let except = [
        Except("G 8400\\rHIJKLMNOP", TIMING),
        Except("M 8000\\rM 8080\\r", TIMING),
        Except("\\x1b", "after what was typed ahead"),
        Except("\\r", "after the record that was taken at full speed"),
        // At full speed the line feed after the end record arrived while the monitor printed.
        Except(":0F8000001107800E06F7C948454C4C4F0D0A007A\\r\\n:00000001FF\\r\\n", TIMING),
        Except(":0F8000001107800E06F7C948454C4C4F0D0A007A\\r", TIMING),
        Except(
            "\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r\\r",
            TIMING,
        ),
        Except("G 8500\\r", "registers at a program's start"),
    ];
    let r1 = || Box::new(Scm::new(ScmRelease::R1)) as Box<dyn MonitorModel>;
    play("scm-1.0.0.md", "A load cut short", &r1, &[]);
    play("scm-1.0.0.md", "All", &r1, &except);
}

#[test]
fn scm_1_0_for_the_sc114_as_recorded() {
    let s2 = || Box::new(Scm::new(ScmRelease::S2)) as Box<dyn MonitorModel>;
    let except = [
        Except("G 8400\\rHIJKLMNOP", "no chip is polled here"),
        Except("M FFF0\\r", "the ROM's own bytes follow"),
        Except("M 8000\\rM 8080\\r", "other bytes after power was off"),
        Except("G 8500\\r", "registers at a program's start"),
    ];
    play("scm-1.0.0.md", "Configuration S2 (SC114), ACIA", &s2, &except);
}

#[test]
fn scm_1_3_as_recorded() {
    let peer = || Box::new(Scm::new(ScmRelease::S2V13)) as Box<dyn MonitorModel>;
    play("scm-1.3.0.md", "A load cut short", &peer, &[]);
    let except =
        [Except("\\x1b", "a dump that the record leaves out was shown before one of them")];
    play("scm-1.3.0.md", "All", &peer, &except);
}

#[test]
fn scm_for_z180_boards_as_recorded() {
    const OWN: &str = "the monitor's own text";
    let except = [
        Except("HELP\\r", OWN),
        Except("DEVICES\\r", OWN),
        Except("DIR\\r", OWN),
        Except("G 8000\\r", PROGRAM),
        Except("G 8200\\r", PROGRAM),
        Except("G 8200\\rHIJKLMNOP", PROGRAM),
        Except("G 8300\\r", PROGRAM),
        Except("M 8000\\r", "bytes of such a program"),
        Except("G 8500\\r", "registers at a program's start"),
    ];
    for (release, heading) in [
        (ScmRelease::S6V13, "All"),
        (ScmRelease::S6V11, "SCM-S6-2019"),
        (ScmRelease::S6V12, "SCM-S6-2020"),
        (ScmRelease::S5V13, "SCM-S5"),
        (ScmRelease::F3V13, "SCM-F3"),
    ] {
        let peer = || Box::new(Scm::new(release)) as Box<dyn MonitorModel>;
        play("scm-sc126.md", heading, &peer, &except);
    }
}

/// MAME's Z180 has no TRAP, and reads unused bits as 1.
const MAME: &str = "MAME's processor";

#[test]
fn scm_for_the_sc126_as_recorded_on_mame() {
    let except = [
        Except("I C2\\r", MAME),
        Except("I F4\\r", MAME),
        Except("I F6\\r", MAME),
        Except("I FE\\r", MAME),
        Except("I FF\\r", MAME),
        Except("G 8100\\r", MAME),
        Except("G 8000\\r", PROGRAM),
        Except("G 8200\\r", PROGRAM),
        Except("G 8200\\rHIJ", PROGRAM),
        Except("G 8200\\rHIJK", PROGRAM),
        Except("G 8200\\rHIJKL", PROGRAM),
        Except("G 8200\\rHIJKLM", PROGRAM),
        Except("G 8200\\rHIJKLMNOP", PROGRAM),
        Except("G 8400\\r", PROGRAM),
        Except("M 8000\\r", "bytes of such a program"),
    ];
    let peer = || Box::new(Scm::new(ScmRelease::S6V13)) as Box<dyn MonitorModel>;
    play("scm-sc126.md", "The same ROM on MAME", &peer, &except);
}

#[test]
fn romwbw_for_the_sc131_as_recorded() {
    let except = [
        Except("power on", "the list of this board's devices"),
        Except("r\\r", "the same"),
        Except("d\\r", "the same"),
        Except("?\\r", "the monitor's own text"),
        Except("R 8000\\r", PROGRAM),
        Except("D 8000 801F\\r", PROGRAM),
        Except("R 8600\\r", PROGRAM),
        Except("R 8300\\r", PROGRAM),
        Except("R 8200\\r", PROGRAM),
        Except("R 8200\\rabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ\\r", PROGRAM),
        Except("R 8400\\r", PROGRAM),
        Except("ABC", PROGRAM),
        Except("HIJKLMNOP", PROGRAM),
        Except("q", PROGRAM),
        Except("\\r", "among them two after input for such programs"),
    ];
    let loader = || Box::new(Romwbw::default().on_z180()) as Box<dyn MonitorModel>;
    play("romwbw-sc131.md", "All", &loader, &except);
}

#[test]
fn romwbw_for_the_sc131_as_recorded_on_mame() {
    let except = [
        Except("power on", "the list of this board's devices"),
        Except("I C4\\r", MAME),
        Except("I DE\\r", MAME),
        Except("I F4\\r", MAME),
        Except("I F6\\r", MAME),
        Except("I FF\\r", MAME),
        Except("R 8000\\r", PROGRAM),
        Except("R 8200\\r", PROGRAM),
        Except("R 8200\\rabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ\\r", PROGRAM),
        Except("R 8400\\r", PROGRAM),
        Except("ABC", PROGRAM),
        Except("HIJKLMNOP", PROGRAM),
        Except("q", PROGRAM),
        Except("R 8600\\r", PROGRAM),
        Except("\\r", "among them one that the record cuts, and two for such programs"),
    ];
    let loader = || Box::new(Romwbw::default().on_z180()) as Box<dyn MonitorModel>;
    play_until("romwbw-sc131.md", "The same ROM on MAME", "R 8100\\r", &loader, &except);
}

#[test]
fn romwbw_3_5_as_recorded() {
    let loader = || Box::new(Romwbw::default().with_panel()) as Box<dyn MonitorModel>;
    let except = [
        Except("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", TIMING),
        Except("?\\r", "the monitor's own text"),
        Except("power on", "the list of this emulator's devices"),
        Except("(no reset button on this emulator: power off and on, RAM lost)", "the same"),
        Except("R 8400\\r", "a program of 2.2 s is a RET here"),
    ];
    play("romwbw-3.5.1.md", "Boot loader and debug monitor", &loader, &except);
    let except = [
        Except("\\r", "its look at each byte of memory takes longer than the record waits"),
        Except("C\\r", "typed meanwhile"),
    ];
    play("romwbw-3.5.1.md", "BASIC", &loader, &except);
    let except = [
        Except("dir\\r", "the ROM's own directory"),
        Except("DIR B:XM.COM\\r", "the ROM's own directory"),
        Except("XM\\r", "the program's own text"),
        Except("\\x18\\x18", "nothing waits for it any more"),
        Except("\\x18\\x18\\x18", "nothing waits for it any more"),
    ];
    play("romwbw-3.5.1.md", "CP/M and XM", &loader, &except);
    let except = [Except("C\\r", "a part of the cold start's words")];
    play("romwbw-3.5.1.md", "XM with the RAM drive current", &loader, &except);
    play("romwbw-3.5.1.md", "Ways to end a program", &loader, &[]);
}

#[test]
fn romwbw_2_9_as_recorded() {
    let loader = || Box::new(Romwbw2::default()) as Box<dyn MonitorModel>;
    play("romwbw-2.9.1.md", "Boot loader", &loader, &[]);
    let monitor = || Box::new(Romwbw2::in_monitor()) as Box<dyn MonitorModel>;
    // From there on this emulator is dead, where MAME's board shows a PANIC.
    play_until("romwbw-2.9.1.md", "Debug monitor", "R 8000\\r", &monitor, &[]);
    let except = [
        Except("R 8400\\r", "this emulator stops where MAME's board shows a PANIC"),
        Except("\\r", "among them one after a load that the record leaves out"),
        Except("N", "after the program"),
    ];
    play("romwbw-2.9.1.md", "Line limit, record types, half a record", &loader, &except);
    play("romwbw-2.9.1.md", "A program that RETs", &loader, &[]);
    // After half a block this release rejects the whole one, which the emulator does not.
    let except = [Except("C", "a part of the cold start's words")];
    let heading = "XM with the RAM drive current";
    play_until("romwbw-2.9.1.md", heading, "63 bytes of block 1", &loader, &except);
}

#[test]
fn searles_basic_as_recorded() {
    let cold = || Box::new(Basic::default().at_memory_prompt()) as Box<dyn MonitorModel>;
    let except = [
        Except("300 characters \"!\" to \"z\" and over again", TIMING),
        Except("PRINT 1\" 300 blanks \"\\r", TIMING),
        Except("\\r", "after what was typed too fast"),
        Except("PRINT USR(0)\\r", "a program of 2.2 s is a RET here"),
        Except(FOUR_LINES, TIMING),
        Except("LIST\\r", "after the four lines"),
    ];
    play("basic-searle-4.7b.md", "All", &cold, &except);
    play("basic-searle-4.7b.md", "The `Memory top?` question", &cold, &[]);
}

#[test]
fn feilipus_basic_as_recorded() {
    let cold = || Box::new(Basic::feilipu().at_memory_prompt()) as Box<dyn MonitorModel>;
    let except = [
        Except("PRINT 1\" 300 blanks \"\\r", TIMING),
        Except("PRINT USR(0)\\r", "a program of 2.2 s is a RET here"),
        Except("300 characters \"!\" to \"z\" and over again", TIMING),
        Except("\\r", "after what was typed too fast"),
    ];
    play("basic-mini2-v1.2.md", "Cold start", &cold, &except);
    play("basic-mini2-v1.2.md", "RAM kept", &cold, &[]);
}

#[test]
fn the_factorys_cpm_monitor_as_recorded() {
    let peer = || Box::new(CpmMonitor::not_activated()) as Box<dyn MonitorModel>;
    play_until("cpm-searle-1.1.md", "All", "Y", &peer, &[]);
}
