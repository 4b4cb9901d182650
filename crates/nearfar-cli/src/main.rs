//! The `nearfar` program; all of it is in the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    nearfar_cli::main()
}
