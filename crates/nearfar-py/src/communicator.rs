//! Processes that work together through a communicator of Python, which links whatever MPI it likes.
//!
//! The work asks; the calling thread, which listens anyway, calls the Python half (`_ranks.py`). So the
//! communicator is used by the thread that called `fit` and by no other, whatever threads its MPI allows.

use std::sync::mpsc::{Sender, SyncSender, sync_channel};

use nearfar::processes::{Communicator, Share};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::watch::Message;

/// What the work wants from the others.
pub(crate) enum Wanted {
    Gather { lengths: Vec<usize> },
    Exchange { lengths: Vec<usize>, theirs: Vec<usize> },
    Pass { coming: usize },
}

/// A question to the calling thread: what this process hands in, and where the answer goes. No answer means that
/// the processes no longer work together.
pub(crate) struct Meeting {
    mine: Py<PyBytes>,
    wanted: Wanted,
    answer: SyncSender<Py<PyArray1<u8>>>,
}

impl Meeting {
    /// Ask the Python half, and answer.
    pub(crate) fn hold(self, py: Python<'_>, ranks: &Py<PyAny>) -> PyResult<()> {
        let (ranks, mine) = (ranks.bind(py), self.mine);
        let all = match self.wanted {
            Wanted::Gather { lengths } => ranks.call_method1("gather", (mine, lengths))?,
            Wanted::Exchange { lengths, theirs } => {
                ranks.call_method1("exchange", (mine, lengths, theirs))?
            }
            Wanted::Pass { coming } => ranks.call_method1("pass_on", (mine, coming))?,
        };
        // Whoever asked is waiting.
        let _ = self.answer.send(all.cast_into::<PyArray1<u8>>()?.unbind());
        Ok(())
    }
}

/// What ends the work of a process when the processes no longer work together; the calling thread knows why.
pub(crate) struct Apart;

/// This process among the others.
#[derive(Debug)]
pub(crate) struct PyCommunicator {
    pub(crate) size: usize,
    pub(crate) rank: usize,
    pub(crate) messages: Sender<Message>,
}

impl PyCommunicator {
    fn ask(&self, mine: &[u8], wanted: Wanted, all: &mut [u8]) {
        let (answer, answered) = sync_channel(1);
        let mine = Python::attach(|py| PyBytes::new(py, mine).unbind());
        let asked = self.messages.send(Message::Meet(Meeting { mine, wanted, answer }));
        let answer = asked.ok().and_then(|()| answered.recv().ok());
        let copied = answer.is_some_and(|bytes| {
            Python::attach(|py| {
                let bytes = bytes.bind(py).readonly();
                let fits = bytes.as_slice().ok().filter(|bytes| bytes.len() == all.len());
                fits.map(|bytes| all.copy_from_slice(bytes)).is_some()
            })
        });
        if !copied {
            // Not a fault, so the panic hook is not told.
            std::panic::resume_unwind(Box::new(Apart));
        }
    }
}

impl Communicator for PyCommunicator {
    fn size(&self) -> usize {
        self.size
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn gather(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) {
        self.ask(mine, Wanted::Gather { lengths: lengths.to_vec() }, all);
    }

    fn exchange(&self, mine: &[u8], lengths: &[usize], theirs: &[usize], all: &mut [u8]) {
        let (lengths, theirs) = (lengths.to_vec(), theirs.to_vec());
        self.ask(mine, Wanted::Exchange { lengths, theirs }, all);
    }

    fn pass(&self, mine: &[u8], theirs: &mut [u8]) {
        self.ask(mine, Wanted::Pass { coming: theirs.len() }, theirs);
    }
}

/// The first row of a process and the one behind its last, of n rows that `size` processes share.
#[pyfunction]
pub(crate) fn rows_of(n_samples: usize, size: usize, rank: usize) -> PyResult<(usize, usize)> {
    if rank >= size {
        return Err(PyValueError::new_err(format!("rank = {rank} is not allowed: it must be below {size}")));
    }
    let cuts = Share::cuts(n_samples, size);
    Ok((cuts[rank], cuts[rank + 1]))
}
