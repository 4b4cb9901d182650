//! What is learnt, and how. The flags of the methods are made from the library's table.

use std::collections::BTreeMap;
use std::fmt;

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use nearfar::Views;
use nearfar::internals::lower;
use nearfar::learn::MethodKind;
use nearfar::learn::table::{Kind, Setting, Value};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::values::{Clusters, MethodName, Size};

/// Headings of the flags that only some methods take.
const NEARFAR: &str = "The default method (nearfar)";
const LSDG: &str = "The paper's model (lsdg)";
const MOST: &str = "Most methods but nearfar";
const OTHERS: &str = "Other methods";

/// As many methods are most of them.
const MANY: usize = 8;

/// Flags that exclude others on the command line.
const EXCLUDE: [(&str, &[&str]); 1] = [("neighbors", &["mu", "eta"])];
/// Flags of which the last one counts.
const OVERRIDE: [(&str, &str); 2] =
    [("relative-alpha", "absolute-alpha"), ("absolute-alpha", "relative-alpha")];

/// The settings of the model.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[command(next_help_heading = "Learning")]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct LearnArgs {
    /// Number of clusters, or auto to find it, which only nearfar can do [default: auto]
    #[arg(short = 'k', long, value_name = "K|auto", allow_negative_numbers = true)]
    pub(crate) clusters: Option<Clusters>,
    /// The method; `nearfar methods` lists them all [default: nearfar]
    #[arg(long, value_name = "METHOD", value_parser = MethodName::parser(), hide_possible_values = true)]
    pub(crate) method: Option<MethodName>,
    /// Seed of everything random [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Worker threads; the result does not depend on their number [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Memory the run may use, such as 500M or 4G; data larger than half of it is mapped, or narrowed to single
    /// precision [default: 80 % of the free memory]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// What only some methods take
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) own: MethodArgs,
}

/// Flags of methods that were given, by their names without dashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct MethodArgs(BTreeMap<&'static str, Value>);

impl MethodArgs {
    /// What was given with this flag.
    pub(crate) fn get(&self, flag: &str) -> Option<&Value> {
        self.0.get(flag)
    }

    /// Whether this flag was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.0.contains_key(flag)
    }

    /// The word that was given with this flag.
    pub(crate) fn word(&self, flag: &str) -> Option<&str> {
        match self.get(flag) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.keys().copied()
    }

    pub(crate) fn put(&mut self, flag: &'static str, value: Value) {
        self.0.insert(flag, value);
    }

    pub(crate) fn leave_out(&mut self, flag: &str) {
        self.0.remove(flag);
    }
}

/// A flag, and the methods' settings that it stands for.
struct Flag {
    name: &'static str,
    settings: Vec<(MethodKind, &'static Setting)>,
}

/// Every flag of the table, in the order of the help.
fn flags() -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for kind in MethodKind::ALL {
        for setting in kind.entry().settings().filter(|setting| !setting.flag.is_empty()) {
            match flags.iter_mut().find(|flag| flag.name == setting.flag) {
                Some(flag) => flag.settings.push((kind, setting)),
                None => flags.push(Flag { name: setting.flag, settings: vec![(kind, setting)] }),
            }
        }
    }
    let headings = [NEARFAR, LSDG, MOST, OTHERS];
    flags.sort_by_key(|flag| headings.iter().position(|heading| *heading == flag.heading()));
    flags
}

impl Flag {
    fn heading(&self) -> &'static str {
        match self.settings[0].0 {
            MethodKind::NearFar => NEARFAR,
            _ if self.settings.len() >= MANY => MOST,
            MethodKind::Lsdg => LSDG,
            _ => OTHERS,
        }
    }

    fn kind(&self) -> Kind {
        self.settings[0].1.kind
    }

    /// The words of all methods.
    fn words(&self) -> Vec<&'static str> {
        let mut all = Vec::new();
        for (_, setting) in &self.settings {
            if let Kind::Word(words) = setting.kind {
                all.extend(words.iter().filter(|word| !all.contains(*word)).collect::<Vec<_>>());
            }
        }
        all
    }

    fn help(&self) -> String {
        let switch = self.kind() == Kind::Switch;
        let default = |(kind, setting): &(MethodKind, &Setting)| kind.entry().default_text(setting);
        // Under their headings these need no name of a method.
        let alone = [NEARFAR, LSDG].contains(&self.heading());
        if let ([only], true) = (&self.settings[..], alone) {
            let (help, default) = (only.1.help, default(only));
            return match (switch, default.as_str()) {
                (true, "true") => format!("Do not {}", lower(help)),
                (true, _) => help.to_owned(),
                _ => format!("{help} [default: {default}]"),
            };
        }
        if self.settings.len() >= MANY {
            // The last method's default is that of all but a few.
            let usual = self.settings.last().map(&default).unwrap_or_default();
            let mut text = format!("{} [default: {usual}", self.settings[0].1.help);
            for of in self.settings.iter().filter(|of| default(of) != usual) {
                text += &format!("; {}: {}", of.0, default(of));
            }
            return text + "]";
        }
        // What methods say alike stands once, and so does a default that they share.
        let mut parts: Vec<(&str, Vec<(String, String)>)> = Vec::new();
        for of in &self.settings {
            let (method, default) = (of.0.name().to_owned(), default(of));
            let same = |(_, known): &&mut (String, String)| *known == default;
            match parts.iter_mut().find(|(help, _)| *help == of.1.help) {
                Some((_, takers)) => match takers.iter_mut().find(same) {
                    Some((methods, _)) => *methods += &format!(", {method}"),
                    None => takers.push((method, default)),
                },
                None => parts.push((of.1.help, vec![(method, default)])),
            }
        }
        let parts: Vec<String> = parts
            .iter()
            .enumerate()
            .map(|(at, (help, takers))| {
                let help = match (at, switch, &takers[..]) {
                    (_, true, [(methods, on)]) if on == "true" => {
                        return format!("Do not {} [{methods}]", lower(help));
                    }
                    (0, ..) => (*help).to_owned(),
                    _ => lower(help),
                };
                let takers: Vec<String> =
                    takers.iter().map(|(methods, default)| format!("{methods}: {default}")).collect();
                format!("{help} [{}]", takers.join("; "))
            })
            .collect();
        parts.join("; ")
    }

    fn arg(&self) -> Arg {
        let arg = Arg::new(self.name).long(self.name).help(self.help()).help_heading(self.heading());
        let arg = match self.kind() {
            Kind::Switch => arg.action(ArgAction::SetTrue),
            Kind::Whole(..) => arg.value_name("N").value_parser(clap::value_parser!(usize)),
            Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_) => {
                arg.value_name("X").value_parser(clap::value_parser!(f64)).allow_negative_numbers(true)
            }
            Kind::Word(_) => arg.value_name("NAME").value_parser(PossibleValuesParser::new(self.words())),
            Kind::Views => arg.value_name("A,B,...").value_parser(ValueParser::new(|text: &str| {
                let views = text.parse::<Views>();
                views.map(|views| views.to_string()).map_err(|error| format!("it must be {}", error.allowed))
            })),
        };
        let exclude = EXCLUDE.iter().filter(|(flag, _)| *flag == self.name);
        let arg = exclude.fold(arg, |arg, (_, others)| arg.conflicts_with_all(others.iter()));
        let replace = OVERRIDE.iter().filter(|(flag, _)| *flag == self.name);
        replace.fold(arg, |arg, (_, other)| arg.overrides_with(other))
    }

    /// What was given on the command line.
    fn given(&self, matches: &ArgMatches) -> Option<Value> {
        match self.kind() {
            Kind::Switch => matches.get_flag(self.name).then_some(Value::Switch(true)),
            Kind::Whole(..) => matches.get_one::<usize>(self.name).map(|x| Value::Whole(*x)),
            Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_) => {
                matches.get_one::<f64>(self.name).map(|x| Value::Number(*x))
            }
            Kind::Word(_) | Kind::Views => matches.get_one::<String>(self.name).cloned().map(Value::from),
        }
    }

    /// What stands in a settings file.
    fn read(&self, value: toml::Value) -> Result<Value, String> {
        use toml::Value::{Boolean, Float, Integer, String as Text};
        let name = self.name;
        match (self.kind(), value) {
            (Kind::Switch, Boolean(on)) => Ok(Value::Switch(on)),
            (Kind::Switch, value) => Err(format!("{name} = {value}: it must be true or false")),
            (Kind::Whole(..), Integer(x)) => usize::try_from(x)
                .map(Value::Whole)
                .map_err(|_| format!("{name} = {x}: it must be a whole number, 0 or more")),
            (Kind::Whole(..), value) => Err(format!("{name} = {value}: it must be a whole number")),
            (Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_), Float(x)) => {
                Ok(Value::Number(x))
            }
            (Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_), Integer(x)) => {
                Ok(Value::Number(x as f64))
            }
            (Kind::Number(..) | Kind::Above(..) | Kind::Below(_) | Kind::Under(_), value) => {
                Err(format!("{name} = {value}: it must be a number"))
            }
            (Kind::Views, Text(text)) => match text.parse::<Views>() {
                Ok(views) => Ok(views.to_string().into()),
                Err(error) => Err(format!("{name} = {text:?}: it must be {}", error.allowed)),
            },
            (Kind::Word(_), Text(text)) if self.words().contains(&text.as_str()) => Ok(text.into()),
            (Kind::Word(_) | Kind::Views, value) => {
                let words = self.words().join(", ");
                Err(format!("{name} = {value}: it must be one of {words}"))
            }
        }
    }
}

impl Args for MethodArgs {
    fn augment_args(command: Command) -> Command {
        flags().iter().fold(command, |command, flag| command.arg(flag.arg()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MethodArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = flags().into_iter().filter_map(|flag| Some((flag.name, flag.given(matches)?)));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}

impl<'de> Deserialize<'de> for MethodArgs {
    /// Of all keys of a settings file those that are flags of methods.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = MethodArgs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MethodArgs, A::Error> {
                let (flags, mut found) = (flags(), BTreeMap::new());
                while let Some(key) = map.next_key::<String>()? {
                    match flags.iter().find(|flag| flag.name == key) {
                        Some(flag) => {
                            let value = flag.read(map.next_value()?).map_err(A::Error::custom)?;
                            if value != Value::Switch(false) {
                                found.insert(flag.name, value); // a switch that is off was not given
                            }
                        }
                        None => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(MethodArgs(found))
            }
        }

        deserializer.deserialize_map(Keys)
    }
}

impl MethodName {
    /// One of the names in the table.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        let names = MethodKind::ALL.map(MethodKind::name);
        PossibleValuesParser::new(names).try_map(|name| {
            name.parse().map_err(|error: String| clap::Error::raw(ErrorKind::InvalidValue, error))
        })
    }
}
