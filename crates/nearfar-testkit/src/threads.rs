//! Processes played by threads: what processes do over a network, in one process and without one.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use nearfar::processes::{Communicator, Team};

/// What the threads share.
#[derive(Debug)]
struct Meeting {
    size: usize,
    /// What each hands in, and how much of it is for whom.
    slots: Vec<Mutex<(Vec<u8>, Vec<usize>)>>,
    /// Who has arrived, how often all have met, and whether somebody is gone for good.
    door: Mutex<(usize, usize, bool)>,
    bell: Condvar,
}

impl Meeting {
    /// Wait until all are here.
    fn meet(&self) {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        let round = door.1;
        door.0 += 1;
        if door.0 == self.size {
            (door.0, door.1) = (0, round + 1);
            self.bell.notify_all();
        }
        while door.1 == round && !door.2 {
            door = self.bell.wait(door).unwrap_or_else(PoisonError::into_inner);
        }
        assert!(!door.2, "another process has failed");
    }

    fn put(&self, rank: usize, bytes: &[u8], lengths: &[usize]) {
        let mut slot = self.slots[rank].lock().unwrap_or_else(PoisonError::into_inner);
        *slot = (bytes.to_vec(), lengths.to_vec());
    }

    fn look<R>(&self, rank: usize, with: impl FnOnce(&[u8], &[usize]) -> R) -> R {
        let slot = self.slots[rank].lock().unwrap_or_else(PoisonError::into_inner);
        with(&slot.0, &slot.1)
    }
}

/// One thread, which plays a process.
#[derive(Debug)]
struct Thread {
    rank: usize,
    meeting: Arc<Meeting>,
}

impl Communicator for Thread {
    fn size(&self) -> usize {
        self.meeting.size
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn gather(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) {
        assert_eq!(mine.len(), lengths[self.rank], "everybody hands in what was announced");
        self.meeting.put(self.rank, mine, lengths);
        self.meeting.meet();
        let mut at = 0;
        for (p, length) in lengths.iter().enumerate() {
            self.meeting.look(p, |bytes, theirs| {
                assert_eq!(theirs, lengths, "all are at the same place of the program");
                all[at..at + length].copy_from_slice(bytes);
            });
            at += length;
        }
        assert_eq!(at, all.len());
        self.meeting.meet();
    }

    fn exchange(&self, mine: &[u8], lengths: &[usize], theirs: &[usize], all: &mut [u8]) {
        self.meeting.put(self.rank, mine, lengths);
        self.meeting.meet();
        let mut at = 0;
        for (p, length) in theirs.iter().enumerate() {
            self.meeting.look(p, |bytes, lengths| {
                let from: usize = lengths[..self.rank].iter().sum();
                assert_eq!(lengths[self.rank], *length);
                all[at..at + length].copy_from_slice(&bytes[from..from + length]);
            });
            at += length;
        }
        self.meeting.meet();
    }

    fn pass(&self, mine: &[u8], theirs: &mut [u8]) {
        self.meeting.put(self.rank, mine, &[]);
        self.meeting.meet();
        let before = (self.rank + self.meeting.size - 1) % self.meeting.size;
        self.meeting.look(before, |bytes, _| theirs.copy_from_slice(bytes));
        self.meeting.meet();
    }
}

/// Says so when its thread fails, so that the others do not wait for ever.
struct Guard(Arc<Meeting>);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.door.lock().unwrap_or_else(PoisonError::into_inner).2 = true;
            self.0.bell.notify_all();
        }
    }
}

/// Run the same work in `size` threads that form a team; the results by rank.
///
/// # Panics
/// When the work does in any of them.
pub fn as_team<R: Send>(size: usize, work: impl Fn(&Arc<Team>) -> R + Sync) -> Vec<R> {
    let slots = (0..size).map(|_| Mutex::default()).collect();
    let meeting = Arc::new(Meeting { size, slots, door: Mutex::default(), bell: Condvar::new() });
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                let (meeting, work) = (meeting.clone(), &work);
                scope.spawn(move || {
                    let _guard = Guard(meeting.clone());
                    work(&Arc::new(Team::new(Box::new(Thread { rank, meeting }))))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a process failed")).collect()
    })
}
