//! The plan of the default method: memory grows with n.

use super::{Held, Job, Plan, Precision, SECONDS_PER_MULTIPLY, quick_search_work};
use crate::error::{Error, Result};
use crate::params::Mode;
use crate::views::{MANY, MOST_VIEWS};

/// Memory of the default method, in bytes per point: lists of a view; a graph of a member that is learnt, with what
/// is made of it; the consensus of four views.
const BYTES_OF_LISTS: u64 = 40 * 12;
const BYTES_OF_MEMBER: u64 = 1600;
const BYTES_OF_CONSENSUS: u64 = 4500;
/// Its time in seconds per point on one thread: a member, and everything that is done once.
const SECONDS_PER_MEMBER_POINT: f64 = 4e-6;
const SECONDS_PER_POINT: f64 = 30e-6;
/// Views and members of it, at most.
const VIEWS: u64 = 4;
const MEMBERS: u64 = 4 * VIEWS;

impl Plan {
    /// The plan of the default method: memory grows with n, members that run side by side follow the threads.
    pub(crate) fn of_lists(job: &Job, held: Held, limit: u64) -> Result<Self> {
        let [n, m, r] = [job.n_samples, job.n_features, job.n_clusters].map(|x| x as u64);
        let (threads, own) = (job.threads.max(1) as u64, job.own_rows());
        let cells = own.saturating_mul(m);
        let wide = if held == Held::Double { 8 } else { 4 };
        // Rows as they were read; those of the view in hand, and what the search makes of them.
        let data = if m == 0 { n.saturating_mul(n).saturating_mul(8) } else { held.data(own, m) };
        let points = cells.saturating_mul(wide + held.bytes()[1]);
        let judged = n.min(3_000).saturating_mul(m);
        let judging = judged.saturating_mul(4 * wide * threads.min(VIEWS)) + 10_000.min(n) * m * wide;
        // Lists; sketches of all, heads of lists, candidates; blocks of rows.
        let search = own * (40 * 28 + 80 * 8)
            + n * (4 * m.min(128).next_multiple_of(32) + 150)
            + threads.saturating_mul(m.saturating_mul(2048) + (1 << 20));
        let lists = VIEWS * n * BYTES_OF_LISTS;
        let members = threads.min(MEMBERS) * n * BYTES_OF_MEMBER + MEMBERS * n * 12;
        let consensus = n.saturating_mul(BYTES_OF_CONSENSUS).saturating_add(n.saturating_mul(8 * r));
        let parts = vec![
            ("data", data),
            ("points", points),
            ("judging", judging),
            ("search", search),
            ("lists", lists),
            ("members", members),
            ("consensus", consensus),
        ];
        let fixed = 32 << 20; // program, stacks, small things
        let searching = points.saturating_add(search);
        let most = judging.max(searching).max(members).max(consensus);
        let bytes = data.saturating_add(fixed + lists).saturating_add(most);
        if bytes > limit {
            let advice =
                "look at fewer views (`views` raw), cluster a sample of the rows, or allow more `memory`";
            return Err(Error::Memory { needed: bytes, limit, advice: advice.into() });
        }
        let workers = (threads * job.ranks.unwrap_or(1).max(1) as u64) as f64;
        let views = MOST_VIEWS[usize::from(job.n_samples > MANY)] as f64;
        let searched = views * quick_search_work(job.n_samples, job.n_features) * SECONDS_PER_MULTIPLY;
        let judged = VIEWS as f64
            * 2.0
            * quick_search_work((judged / m.max(1)) as usize, job.n_features)
            * SECONDS_PER_MULTIPLY;
        let learnt = n as f64 * (4.0 * views * SECONDS_PER_MEMBER_POINT + SECONDS_PER_POINT);
        let seconds = (searched + judged + learnt) / workers;
        let (mode, binned, precision) = (Mode::Exact, None, Precision::Double);
        let side_by_side = job.threads.clamp(1, MEMBERS as usize);
        Ok(Self { mode, binned, precision, side_by_side, bytes, limit, parts, seconds })
    }
}
