use super::*;

#[test]
fn sizes() {
    let bytes = |text: &str| text.parse::<Size>().map(|size| size.bytes);
    assert_eq!(bytes("4G"), Ok(4 << 30));
    assert_eq!(bytes("1.5 MiB"), Ok(3 << 19));
    assert_eq!(bytes("100"), Ok(100));
    for wrong in ["", "G", "-1G", "0", "nan", "inf", "1e99", "4X", "4 GG", "1e400"] {
        assert!(bytes(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn numbers_of_clusters() {
    assert_eq!(("auto".parse(), " Auto".parse()), (Ok(Clusters::Auto), Ok(Clusters::Auto)));
    assert_eq!(("12".parse(), "0".parse()), (Ok(Clusters::Number(12)), Ok(Clusters::Number(0))));
    for wrong in ["", "x", "-1", "2.5", "automatic", "nan"] {
        assert_eq!(wrong.parse::<Clusters>(), Err(HOW_MANY.to_owned()), "{wrong}");
    }
}

#[test]
fn portions() {
    let share = |text: &str| text.parse::<Portion>().map(|portion| portion.share);
    assert_eq!((share("0.25"), share("5 %"), share(" 12.5%")), (Ok(0.25), Ok(0.05), Ok(0.125)));
    for wrong in ["", "%", "0", "1", "5", "100%", "-1%", "nan", "inf%", "x"] {
        assert!(share(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn pauses() {
    let seconds = |text: &str| text.parse::<Pause>().map(|pause| pause.time.as_secs_f64());
    assert_eq!(seconds("30s"), Ok(30.0));
    assert_eq!(seconds("1.5 m"), Ok(90.0));
    assert_eq!(seconds("2h"), Ok(7200.0));
    assert_eq!(seconds("0"), Ok(0.0));
    for wrong in ["", "s", "-1s", "nan", "inf", "1e99", "4d", "3 weeks", "1e400h"] {
        assert!(seconds(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn counts_times_and_rates() {
    assert_eq!((count("1e8"), count("250")), (Ok(100_000_000), Ok(250)));
    assert_eq!((seconds("2us"), seconds("0.5 ms")), (Ok(2e-6), Ok(0.5e-3)));
    assert_eq!((rate("10GB/s"), rate("8 Gbit/s")), (Ok(1e10), Ok(1e9)));
    for wrong in ["", "1.5", "-1", "1e99", "x"] {
        assert!(count(wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "2", "us", "-1us", "0s", "1e400s", "2 fortnights"] {
        assert!(seconds(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn delimiters() {
    assert_eq!("tab".parse(), Ok(Delimiter(b'\t')));
    assert_eq!(";".parse(), Ok(Delimiter(b';')));
    for wrong in ["", "ab", "é", "1", "\n", "\""] {
        assert!(wrong.parse::<Delimiter>().is_err(), "{wrong}");
    }
}
