//! Settings by their names in the table.

use super::{Entry, Value};
use crate::error::ParamError;
use crate::learn::family::{MethodKind, MethodParams};
use crate::params::Params;

impl Params {
    /// Set one of the method's settings by its name in the table.
    ///
    /// # Errors
    /// When the method does not use the setting, or the value is out of its range.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<(), ParamError> {
        let (entry, value) = (self.method.entry(), value.into());
        let Some(setting) = entry.setting(name) else {
            return Err(match takers(name).first().and_then(|kind| kind.entry().setting(name)) {
                Some(other) => not_used(entry, other.name, &value),
                None => ParamError::new("setting", name, format!("one of {}", names(entry).join(", "))),
            });
        };
        setting.check(&value)?;
        match (&setting.place, &mut self.method) {
            (Some(place), _) => (place.set)(self, &value)?,
            (None, MethodParams::Custom(own)) => own.set(setting.name, value),
            (None, _) => {}
        }
        Ok(())
    }

    /// The same where the method uses the setting, and nothing where it does not: for several methods in a row.
    ///
    /// # Errors
    /// When the value is out of its range.
    pub fn set_if_used(&mut self, name: &str, value: impl Into<Value>) -> Result<(), ParamError> {
        if self.method.entry().setting(name).is_some() { self.set(name, value) } else { Ok(()) }
    }

    /// One of the method's settings by its name in the table; `None` where the run decides, or where the method does
    /// not use it.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.method.entry().setting(name).and_then(|setting| setting.read(self))
    }

    /// Every setting that the method uses is in its range, and every other as it was.
    pub(crate) fn check_settings(&self) -> Result<(), ParamError> {
        let entry = self.method.entry();
        for setting in entry.settings() {
            setting.read(self).map_or(Ok(()), |value| setting.check(&value))?;
        }
        let fresh = Self::of(self.n_clusters, self.method.clone());
        let others = MethodKind::ALL.iter().flat_map(|kind| kind.entry().settings());
        for setting in others.filter(|setting| entry.setting(setting.name).is_none()) {
            let (found, left) = (setting.read(self), setting.read(&fresh));
            if let Some(value) = found.filter(|value| left.as_ref() != Some(value)) {
                return Err(not_used(entry, setting.name, &value));
            }
        }
        Ok(())
    }
}

fn names(entry: &Entry) -> Vec<&'static str> {
    entry.settings().map(|setting| setting.name).collect()
}

/// A setting that the method would ignore.
fn not_used(entry: &Entry, name: &'static str, value: &Value) -> ParamError {
    let takers = takers(name);
    let does = if takers.len() == 1 { "does" } else { "do" };
    let allowed = format!("left out, because {} does not use it ({} {does})", entry.name, listed(&takers));
    ParamError::new(name, value, allowed)
}

/// Names of methods, as a sentence lists them.
#[doc(hidden)]
pub fn listed(kinds: &[MethodKind]) -> String {
    match kinds {
        [] => String::new(),
        [only] => only.name().to_owned(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
            format!("{} and {last}", others.join(", "))
        }
    }
}

/// Methods that use a setting of this name, in the order of the table.
#[doc(hidden)]
pub fn takers(name: &str) -> Vec<MethodKind> {
    MethodKind::ALL.into_iter().filter(|kind| kind.entry().setting(name).is_some()).collect()
}
