//! The Z80 source files of Sargon's exchange evaluator, in TDL syntax, as string constants for
//! `firmware`; README.md describes each file. They are a crate of their own because a package can
//! only include files of its folder.
//!
//! ```
//! let (name, text) = sargon_src::XCHNG;
//! assert_eq!(name, "xchng.asm");
//! assert!(text.contains("XCHNG:"));
//! ```

/// Defines a constant for each file: (name, text).
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
