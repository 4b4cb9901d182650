//! The table of methods: what stands in it, what it refuses, and a method that is added from outside.

use std::collections::HashSet;

use nearfar::internals::takers;
use nearfar::learn::table::{Kind, Setting, Value};
use nearfar::learn::{MethodKind, MethodParams};
use nearfar::{Params, Preset};

#[allow(dead_code, reason = "its main is for people")]
#[path = "../examples/toy_method.rs"]
mod toy_method;

#[test]
fn a_method_in_one_file_of_examples() {
    let (model, truth) = toy_method::found().unwrap();
    assert_eq!(nearfar::labels::score::score(&model.labels, &truth).unwrap().accuracy, 1.0);
    assert_eq!(model.params.method.kind().name(), "farthest");
    assert_eq!(model.params.get("pull"), Some(0.8.into()));
    assert_eq!(model.params.get("rounds"), Some(10_usize.into()));
    assert_eq!((model.members.len(), model.membership.len()), (4, 150 * 3));
    let settings = serde_json::to_value(&model.params.method).unwrap();
    let expected = serde_json::json!({"name": "custom", "method": "farthest", "rounds": 10, "pull": 0.8});
    assert_eq!(settings, expected);
    let [range, foreign] = toy_method::wrong().map(|error| error.to_string());
    assert_eq!(range, "pull = 2 is not allowed: it must be 0 to 1");
    assert!(
        foreign.contains("farthest does not use it (anls, gsnmf, gnmf, nmfan and rbsmf do)"),
        "{foreign}"
    );
}

#[test]
fn names_are_told_apart() {
    let names: HashSet<&str> = MethodKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), MethodKind::ALL.len());
    for kind in MethodKind::ALL {
        let entry = kind.entry();
        assert_eq!(MethodKind::named(entry.name), Some(kind));
        let words: [fn(&Setting) -> &'static str; 3] = [|s| s.name, |s| s.flag, |s| s.keyword];
        for of in words {
            let all: Vec<&str> = entry.settings().map(of).filter(|name| !name.is_empty()).collect();
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{kind}: {all:?}");
        }
        for setting in entry.settings() {
            assert!(!setting.help.is_empty() && !setting.help.ends_with('.'), "{kind}: {}", setting.name);
            assert!(!entry.default_text(setting).is_empty(), "{kind}: {} has no default", setting.name);
        }
    }
}

/// Some other value that the setting may take.
fn another(kind: Kind, now: Option<&Value>) -> Value {
    let choices: Vec<Value> = match kind {
        Kind::Number(..) | Kind::Above(..) | Kind::Under(_) => vec![2.0.into(), 3.0.into()],
        Kind::Below(_) => vec![0.25.into(), 0.5.into()],
        Kind::Whole(..) => vec![9_usize.into(), 11_usize.into()],
        Kind::Word(words) => words.iter().map(|word| (*word).into()).collect(),
        Kind::Switch => vec![true.into(), false.into()],
        Kind::Views => vec!["raw".into(), "auto".into()],
    };
    choices.into_iter().find(|choice| Some(choice) != now).unwrap()
}

#[test]
fn what_is_set_is_kept_and_used_by_none_else() {
    for kind in MethodKind::ALL {
        for setting in kind.entry().settings() {
            let mut params = Params::of(2, kind);
            if setting.name == "eta" {
                params = Params::preset(2, Preset::Paper);
                params.set("mu", 5.0).unwrap();
            }
            let value = another(setting.kind, params.get(setting.name).as_ref());
            params.set(setting.name, value.clone()).unwrap();
            assert_eq!(params.get(setting.name), Some(value.clone()), "{kind}: {}", setting.name);
            if setting.name == "solver" && kind == MethodKind::Lsdg {
                params.set("regularizer", "logdet").unwrap();
            }
            params.check().unwrap_or_else(|error| panic!("{kind}: {error}"));
            // The same settings of a method that does not use this one.
            for other in MethodKind::ALL.into_iter().filter(|other| !other.takes(setting.name)) {
                let mut foreign = Params::of(2, other);
                let refused = foreign.set(setting.name, value.clone()).unwrap_err().to_string();
                let names = format!("because {other} does not use it");
                assert!(refused.contains(setting.name) && refused.contains(&names), "{refused}");
                assert_eq!(foreign, Params::of(2, other));
            }
        }
    }
    assert_eq!(takers("tau"), [MethodKind::S3Nmf]);
    let error = Params::new(2).set("lamda", 1.0).unwrap_err();
    assert_eq!(error.to_string(), "setting = lamda is not allowed: it must be one of engine, views");
}

#[test]
fn fields_that_the_method_does_not_use_are_refused() {
    let check = |params: Params| params.check().unwrap_err().to_string();
    assert!(check(Params::new(2).starts(3)).contains("starts = 3"));
    let mut params = Params::of(2, MethodKind::Spectral);
    params.stop.max_iter = 9;
    assert!(check(params).contains("max_iter = 9 is not allowed: it must be left out, because spectral"));
    let phals = Params::of(2, MethodKind::Phals);
    assert!(check(phals.clone().neighbors(9)).contains("neighbors = 9"));
    assert!(check(phals.clone().precision(nearfar::Precision::Single)).contains("lsdg and cgsymnmf do"));
    assert!(check(Params { kmeans_restarts: 5, ..phals }).contains("kmeans_restarts"));
}

#[test]
fn defaults_are_those_of_the_settings() {
    for kind in MethodKind::ALL {
        assert_eq!(MethodParams::from(kind).kind(), kind);
        for setting in kind.entry().settings() {
            if let Some(value) = kind.entry().default_of(setting) {
                assert_eq!(Params::of(1, kind).get(setting.name), Some(value), "{kind}: {}", setting.name);
            }
        }
    }
}

#[test]
fn numbers_out_of_range_are_named() {
    for kind in MethodKind::ALL {
        for setting in kind.entry().settings() {
            let wrong = match setting.kind {
                Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_) => {
                    Value::Number(f64::NAN)
                }
                Kind::Whole(..) => Value::Whole(0),
                Kind::Word(_) | Kind::Views => "no such word".into(),
                Kind::Switch => 1.0.into(),
            };
            let error = Params::of(2, kind).set(setting.name, wrong).unwrap_err();
            assert_eq!(error.name, setting.name);
        }
    }
}
