//! What a verdict is about: the board, the build on it, and what was not judged.

use cli_support::text::Escape;
use firmware_wire::Identity;

use crate::live::LiveBoard;

/// The board and program that were judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTarget {
    /// The board with the title of its profile, or the number of boards.
    pub board: String,
    /// The ids of the programs' builds, each once.
    pub builds: Vec<u32>,
    /// What is not judged on this board, as with routines of the user's own.
    pub not_judged: Vec<&'static str>,
}

impl RunTarget {
    /// Returns the target of a run on one board.
    #[must_use]
    pub fn of_board(live: &LiveBoard, not_judged: Vec<&'static str>) -> Self {
        Self {
            board: board_text(live.name(), &live.profile().title),
            builds: vec![live.identity().build_id],
            not_judged,
        }
    }

    /// Returns the target of a run on several boards, of which these programs ran.
    pub(crate) fn of_fleet<'a>(images: impl IntoIterator<Item = &'a Identity>) -> Self {
        let mut builds: Vec<_> = images.into_iter().map(|image| image.build_id).collect();
        let boards = builds.len();
        builds.sort_unstable();
        builds.dedup();
        let plural = if boards == 1 { "" } else { "s" };
        Self { board: format!("{boards} board{plural}"), builds, not_judged: Vec::new() }
    }

    /// Formats the board and the build, as in ` on /dev/ttyUSB0 (RC2014 Classic), build 3F2A51C0`;
    /// empty if nothing is known of them.
    #[must_use]
    pub fn phrase(&self) -> String {
        let builds: Vec<_> = self.builds.iter().map(|build| format!("{build:08X}")).collect();
        let on = |board: &str| format!(" on {}", board.escaped());
        let build = match &builds[..] {
            [] => String::new(),
            [one] => format!(", build {one}"),
            several => format!(", builds {}", several.join(" and ")),
        };
        Some(&self.board[..]).filter(|board| !board.is_empty()).map_or_else(String::new, on)
            + &build
    }
}

/// Returns a board's name without the port of a simulated one.
pub(super) fn without_port(name: &str) -> &str {
    match name.split_once(" at ") {
        Some((simulated, _)) if simulated.starts_with("simulated ") => simulated,
        _ => name,
    }
}

/// Returns a board's name without the port of a simulated one, or with the title of its profile.
fn board_text(name: &str, title: &str) -> String {
    match without_port(name) {
        simulated if simulated.starts_with("simulated ") => simulated.to_owned(),
        real => format!("{real} ({title})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_board_has_its_title_and_a_simulated_one_has_no_port() {
        let title = "RC2014 Classic";
        assert_eq!(board_text("/dev/ttyUSB0", title), "/dev/ttyUSB0 (RC2014 Classic)");
        assert_eq!(board_text("simulated rc2014 at /dev/pts/1", title), "simulated rc2014");
        let target = RunTarget {
            board: board_text("/dev/ttyUSB0\x1B[2J", title),
            builds: vec![0x3F2A_51C0, 1],
            not_judged: Vec::new(),
        };
        let phrase = " on /dev/ttyUSB0\\x1B[2J (RC2014 Classic), builds 3F2A51C0 and 00000001";
        assert_eq!(target.phrase(), phrase);
        assert_eq!(RunTarget::default().phrase(), "");
    }
}
