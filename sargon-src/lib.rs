//! Sargon's exchange evaluator in TDL source, as text: what `firmware` assembles.
//!
//! The files stand beside this one; README.md there says what each is. A crate of their own carries
//! them, since a package can hold no file from outside its folder.

/// Defines a constant for each file: its name, and its text.
macro_rules! files {
    ($($constant:ident $file:literal)*) => { $(
        #[doc = concat!("`", $file, "`: its name, and its text.")]
        pub const $constant: (&str, &str) = ($file, include_str!($file));
    )* };
}

files! {
    ATKSAV "atksav.asm"
    ATTACK "attack.asm"
    DATA "data.asm"
    NAMES "names.asm"
    NEWLST "newlst.asm"
    NEXTAD "nextad.asm"
    PINFND "pinfnd.asm"
    PNCK "pnck.asm"
    POINTS "points.asm"
    SARGON "sargon.asm"
    SPREAD "spread.asm"
    TABLES "tables.asm"
    TRACE "trace.asm"
    XCHFST "xchfst.asm"
    XCHNG "xchng.asm"
}
