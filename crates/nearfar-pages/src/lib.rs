//! The system's allocator, with large blocks on huge pages; and files as memory.
//!
//! A matrix of 256 MB is 62,500 pages of 4 KiB, and the first touch of each is a trap into the kernel; products over
//! it miss the address cache once a page. Linux gives 2 MiB pages to who asks for them, and NumPy asks. So do our
//! programs, with this allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: nearfar_pages::HugePages = nearfar_pages::HugePages;
//! # fn main() { assert_eq!(vec![1_u8; 5 << 20].iter().map(|&x| x as usize).sum::<usize>(), 5 << 20); }
//! ```
//!
//! It adds nothing to what the system's allocator does but one piece of advice, which the kernel may ignore.
//!
//! Data larger than the memory is looked at in its file: [`MappedFile`] has the bytes of a file that the caller
//! promises to leave alone, [`ScratchFile`] those of a file of its own.
//!
//! This is the only crate of the project that holds unsafe code: neither an allocator nor a mapped file can be had
//! without.

mod mapped;

use std::alloc::{GlobalAlloc, Layout, System};

pub use mapped::{MappedFile, ScratchFile, say_when_pages_are_lost};

/// Blocks from this size on are worth the advice; NumPy's own threshold.
const LARGE: usize = 4 << 20;

/// The system's allocator; large blocks are advised to lie on huge pages where the kernel has them (Linux).
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

// SAFETY: every block comes from, grows in and goes back to `System`, which keeps the contract; the advice changes
// neither the content of a block nor who owns it.
#[allow(unsafe_code, reason = "an allocator is an unsafe trait")]
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises about `layout` are those `System` asks for.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `block` came from `System` with this `layout`, since all blocks do.
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System` with this `layout`, since all blocks do.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The same block, after asking for huge pages if it is large.
#[inline]
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        advise(block, size);
    }
    block
}

#[cfg(target_os = "linux")]
#[cold]
#[allow(unsafe_code, reason = "a system call")]
fn advise(block: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let skip = block.align_offset(PAGE);
    // SAFETY: the range lies inside a block that is ours and at least `LARGE` long, and the advice is a hint: the
    // content stays, and a kernel without huge pages answers with an error that has no consequence.
    unsafe {
        libc::madvise(block.wrapping_add(skip).cast(), size - skip, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
#[cold]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code, reason = "calls the allocator by hand")]
    fn blocks_of_every_size_keep_their_content() {
        for size in [1, 4095, LARGE - 1, LARGE, LARGE + 4097, 40 << 20] {
            let layout = Layout::from_size_align(size, 8).expect("a fair layout");
            let grown = size + LARGE;
            // SAFETY: the block is used within its size and given back with its layout.
            unsafe {
                let block = HugePages.alloc_zeroed(layout);
                assert!((0..size).step_by(997).all(|at| *block.add(at) == 0));
                block.write(7);
                block.add(size - 1).write(7);
                let block = HugePages.realloc(block, layout, grown);
                assert_eq!((block.read(), block.add(size - 1).read()), (7, 7));
                HugePages.dealloc(block, Layout::from_size_align(grown, 8).expect("a fair layout"));
            }
        }
    }
}
