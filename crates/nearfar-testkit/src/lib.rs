//! Slow oracles, golden readers and generators of hard cases; for nearfar's own tests only.
