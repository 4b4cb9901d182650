//! Development tasks of nearfar.
fn main() {}
