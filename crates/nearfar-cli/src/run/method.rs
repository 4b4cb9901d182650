//! Flags of the methods: which method takes which, and what they become. The library's table knows.

use nearfar::Params;
use nearfar::internals::listed;
use nearfar::learn::MethodKind;
use nearfar::learn::table::{Entry, Setting, Value};

use crate::exit::{Failure, Outcome};
use crate::flags::LearnArgs;

/// More methods than this are not listed one by one.
const MANY: usize = 8;

/// Refuse a flag that the method would silently ignore.
pub(crate) fn check_flags(method: MethodKind, learn: &LearnArgs) -> Outcome {
    for flag in learn.own.given() {
        if of_flag(method.entry(), flag).is_some() {
            continue;
        }
        let takers: Vec<MethodKind> =
            MethodKind::ALL.into_iter().filter(|kind| of_flag(kind.entry(), flag).is_some()).collect();
        let names = if takers.len() > MANY { "most others".to_owned() } else { listed(&takers) };
        let tip = match takers.first() {
            Some(first) if learn.method.is_none() && method == MethodKind::NearFar => {
                format!("add --method {first}, or leave it out")
            }
            _ => format!("see nearfar methods {method}"),
        };
        return Err(Failure::wrong(format!(
            "--{flag} is no setting of the method {method} (it is one of {names}); {tip}"
        )));
    }
    Ok(())
}

/// The setting that a flag stands for.
fn of_flag(entry: &Entry, flag: &str) -> Option<&'static Setting> {
    entry.settings().find(|setting| setting.flag == flag)
}

/// Whether a switch is on without its flag, which then turns it off.
fn on_by_default(entry: &Entry, setting: &Setting) -> bool {
    entry.default_of(setting) == Some(Value::Switch(true))
}

/// Settings that flags ask for, in the order of the table: a preset comes before what departs from it.
pub(crate) fn set(params: &mut Params, learn: &LearnArgs) -> Outcome {
    let entry = params.method.entry();
    for setting in entry.settings() {
        match learn.own.get(setting.flag) {
            Some(Value::Switch(_)) => params.set(setting.name, !on_by_default(entry, setting))?,
            Some(value) => params.set(setting.name, value.clone())?,
            None => {}
        }
    }
    Ok(())
}

/// The settings in full, as flags.
pub(crate) fn resolve(learn: &mut LearnArgs, params: &Params) {
    let entry = params.method.entry();
    for setting in entry.settings().filter(|setting| !setting.flag.is_empty()) {
        match setting.read(params) {
            Some(Value::Switch(on)) if on == on_by_default(entry, setting) => {
                learn.own.leave_out(setting.flag);
            }
            Some(Value::Switch(_)) => learn.own.put(setting.flag, Value::Switch(true)),
            Some(value) => learn.own.put(setting.flag, value),
            None => learn.own.leave_out(setting.flag),
        }
    }
}
