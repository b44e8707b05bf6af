//! The flags that instructions change: Zilog, Z80 CPU user manual UM0080.

use super::{Form, Slot};

impl Form {
    /// Returns the effect on the flags S, Z, H, P/V, N and C, a character each: a letter (P for
    /// parity, V for overflow) if the result decides, `0` or `1` if the flag is always that, `-` if
    /// it is unchanged, and `?` if it is undefined.
    ///
    /// # Examples
    /// ```
    /// use tdlasm::isa::decode;
    ///
    /// assert_eq!(decode(&[0x3C]).ok_or("not an instruction")?.form.flags(), "SZHV0-"); // INR A
    /// # Ok::<(), &str>(())
    /// ```
    pub fn flags(&self) -> &'static str {
        match self.mnemonic {
            "ADD" | "ADI" | "ADC" | "ACI" | "DADC" => "SZHV0C",
            "SUB" | "SUI" | "SBB" | "SBI" | "CMP" | "CPI" | "NEG" | "DSBC" => "SZHV1C",
            "ANA" | "ANI" => "SZ1P00",
            "XRA" | "XRI" | "ORA" | "ORI" => "SZ0P00",
            "INR" => "SZHV0-",
            "DCR" => "SZHV1-",
            "DAA" => "SZHP-C",
            "CMA" => "--1-1-",
            "STC" => "--0-01",
            "CMC" | "DAD" | "DADX" | "DADY" => "--H-0C",
            "RLC" | "RAL" | "RRC" | "RAR" => "--0-0C",
            "RLCR" | "RRCR" | "RALR" | "RARR" | "SLAR" | "SRAR" | "SRLR" => "SZ0P0C",
            "RLD" | "RRD" | "INP" => "SZ0P0-",
            // P/V is IFF2.
            "LDAI" | "LDAR" => "SZ0P0-",
            "BIT" => "?Z1?0-",
            "LDI" | "LDD" => "--0V0-",
            "LDIR" | "LDDR" => "--000-",
            "CCI" | "CCIR" | "CCD" | "CCDR" => "SZHV1-",
            // The manual sets N and leaves C; chips do neither.
            "INI" | "IND" | "OUTI" | "OUTD" => "?Z????",
            "INIR" | "INDR" | "OUTIR" | "OUTDR" => "?1????",
            "EXAF" => "SZHPNC",
            // With PSW only.
            "POP" if self.slots[0] == Slot::StackPair => "SZHPNC",
            _ => "------",
        }
    }
}
