//! Where settings are kept, and as what.

use std::fmt;

use super::Value;
use crate::error::ParamError;
use crate::params::Params;
use crate::views::Views;

/// Where a setting is kept.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) get: fn(&Params) -> Option<Value>,
    /// The value was judged before.
    pub(crate) set: fn(&mut Params, &Value) -> Result<(), ParamError>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Place")
    }
}

/// What a setting may be kept as.
pub(crate) trait Held {
    /// As a value; `None` where the run decides.
    fn shown(&self) -> Option<Value>;
    /// Take a value that was judged before.
    fn put(&mut self, value: &Value);
}

impl Held for f64 {
    fn shown(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Number(x) = value {
            *self = *x;
        }
    }
}

impl Held for usize {
    fn shown(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Whole(x) = value {
            *self = *x;
        }
    }
}

impl Held for Option<usize> {
    fn shown(&self) -> Option<Value> {
        self.map(Value::from)
    }

    fn put(&mut self, value: &Value) {
        if let Value::Whole(x) = value {
            *self = Some(*x);
        }
    }
}

impl Held for bool {
    fn shown(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Switch(on) = value {
            *self = *on;
        }
    }
}

impl Held for Views {
    fn shown(&self) -> Option<Value> {
        Some(self.to_string().into())
    }

    fn put(&mut self, value: &Value) {
        if let Value::Text(text) = value
            && let Ok(views) = text.parse()
        {
            *self = views;
        }
    }
}
