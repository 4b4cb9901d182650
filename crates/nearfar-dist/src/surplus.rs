//! More ranks on a machine than it has processors for: those beyond stand by.
//!
//! Two ranks on one processor take turns, and each does again what every rank does alike; without the second one
//! the run is quicker, its results are the same, and the machine holds one copy less of V.

use std::collections::BTreeMap;

/// Processors that are told apart.
const MOST: usize = 1024;
const BYTES: usize = MOST / 8;
/// Bytes of a [`Place`] on its way.
pub(crate) const RECORD: usize = BYTES + 9;

/// Where a process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first rank on the same machine.
    pub(crate) machine: u32,
    /// Processors that the system lets it have at a time; 0 where it does not tell.
    pub(crate) processors: u32,
    /// A bit for each processor that it may run on; none where the system does not tell.
    pub(crate) allowed: [u8; BYTES],
    /// Whether it wants every rank to work.
    pub(crate) all: bool,
}

impl Place {
    /// That of this process.
    pub(crate) fn here(machine: u32, all: bool) -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed = list.and_then(|list| allowed(list.trim())).unwrap_or([0; BYTES]);
        let processors = std::thread::available_parallelism().map_or(0, |count| count.get() as u32);
        Self { machine, processors, allowed, all }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.allowed.to_vec();
        bytes.extend(self.machine.to_le_bytes());
        bytes.extend(self.processors.to_le_bytes());
        bytes.push(u8::from(self.all));
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; RECORD]) -> Self {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self {
            machine: number(BYTES),
            processors: number(BYTES + 4),
            allowed: std::array::from_fn(|i| bytes[i]),
            all: bytes[BYTES + 8] != 0,
        }
    }
}

/// The bits of a list like `0-3,8`; `None` where it is none, or goes beyond what is told apart.
fn allowed(list: &str) -> Option<[u8; BYTES]> {
    let mut bits = [0; BYTES];
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        for processor in first.parse::<usize>().ok()?..=last.parse().ok()? {
            *bits.get_mut(processor / 8)? |= 1 << (processor % 8);
        }
    }
    Some(bits)
}

/// The ranks that work, ascending: of each machine the first ones, as many as there are processors for.
pub(crate) fn working(places: &[Place]) -> Vec<usize> {
    let mut machines: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (rank, place) in places.iter().enumerate() {
        machines.entry(place.machine).or_default().push(rank);
    }
    let all = places.iter().any(|place| place.all);
    let mut working: Vec<usize> = machines
        .into_values()
        .flat_map(|ranks| {
            let enough = if all { ranks.len() } else { processors(&ranks, places).unwrap_or(ranks.len()) };
            ranks.into_iter().take(enough)
        })
        .collect();
    working.sort_unstable();
    working
}

/// Processors that these ranks of one machine may run on together; `None` where one of them does not know.
fn processors(ranks: &[usize], places: &[Place]) -> Option<usize> {
    let mut together = [0; BYTES];
    for rank in ranks {
        let Place { allowed, processors, .. } = &places[*rank];
        if *processors == 0 || allowed.iter().all(|bits| *bits == 0) {
            return None;
        }
        together.iter_mut().zip(allowed).for_each(|(all, own)| *all |= own);
    }
    let count: u32 = together.iter().map(|bits| bits.count_ones()).sum();
    // Where all may run everywhere, the system may still grant less time than there are processors.
    let same = ranks.iter().all(|rank| places[*rank].allowed == together);
    let granted = ranks.iter().map(|rank| places[*rank].processors).max().unwrap_or(count);
    Some(if same { count.min(granted) } else { count } as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(machine: u32, list: &str, processors: u32) -> Place {
        Place { machine, processors, allowed: allowed(list).unwrap(), all: false }
    }

    #[test]
    fn ranks_beyond_the_processors_of_their_machine_stand_by() {
        let free = |ranks: usize| vec![place(0, "0-1", 2); ranks];
        assert_eq!(working(&free(1)), [0]);
        assert_eq!(working(&free(2)), [0, 1]);
        assert_eq!(working(&free(4)), [0, 1]);
        // Bound to one processor each, and two to the same one.
        let bound = [place(0, "0", 1), place(0, "1", 1), place(0, "2", 1)];
        assert_eq!(working(&bound), [0, 1, 2]);
        assert_eq!(working(&[place(0, "5", 1), place(0, "5", 1)]), [0]);
        // A container of 64 processors that is granted the time of two.
        assert_eq!(working(&vec![place(0, "0-63", 2); 3]), [0, 1]);
        // Two machines by turns, of which one is too small.
        let two = [place(0, "0-7", 8), place(1, "0", 1), place(0, "0-7", 8), place(1, "0", 1)];
        assert_eq!(working(&two), [0, 1, 2]);
    }

    #[test]
    fn all_work_where_that_is_asked_for_or_nothing_is_known() {
        let mut ranks = vec![place(0, "0-1", 2); 4];
        ranks[3].all = true;
        assert_eq!(working(&ranks), [0, 1, 2, 3]);
        let silent = Place { allowed: [0; BYTES], ..place(0, "0", 1) };
        assert_eq!(working(&vec![silent; 3]), [0, 1, 2]);
    }

    #[test]
    fn a_place_arrives_as_it_was_sent() {
        let sent = Place { all: true, ..place(7, "0-3,8,1023", 5) };
        assert_eq!((sent.allowed[0], sent.allowed[1], sent.allowed[BYTES - 1]), (0x0f, 1, 0x80));
        assert_eq!(Place::from_bytes(&sent.to_bytes().try_into().unwrap()), sent);
        assert_eq!([allowed("0-1024"), allowed(""), allowed("x")], [None; 3]);
        assert!(Place::here(3, false).machine == 3);
    }
}
