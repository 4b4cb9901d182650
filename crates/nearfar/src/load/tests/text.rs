//! CSV, TSV and text, tables and labels.

use std::io::Write;

use super::{damage, shared};
use crate::load::*;

fn read(text: &str) -> Result<Table, LoadError> {
    read_with(text, &LoadOptions::default())
}

fn read_with(text: &str, options: &LoadOptions) -> Result<Table, LoadError> {
    load_bytes(text.as_bytes().to_vec(), Format::Csv, "t.csv", options)
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn values(table: &Table) -> Vec<f64> {
    match &table.values {
        TableValues::F64(values) => values.to_vec(),
        TableValues::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
    }
}

fn truth(name: &str) -> LoadOptions {
    LoadOptions { truth: Some(Truth::Column(name.to_owned())), ..LoadOptions::default() }
}

#[test]
fn every_way_of_writing_the_same_table() {
    let same = [
        "1,2,3\n4,5,-6.5\n",
        "1,2,3\r\n4,5,-6.5\r\n",
        "1,2,3\n4,5,-6.5",
        "\u{feff}1,2,3\n4,5,-6.5",
        "# made by hand\n\n1, 2 ,3\n#\n4,+5,-65e-1\n\n",
        "1;2;3\n4;5;-6.5",
        "1|2|3\n4|5|-6.5",
        "1\t2\t3\n4\t5\t-6.5",
        "1\t\t2  3\n 4 5\t-6.5 \r\n",
        "\"1\",\"2\",3\n4,\"5\",\"-6.5\"",
        "1,2,3,\n4,5,-6.5,\n",
        "a,b,c\n1,2,3\n4,5,-6.5",
        "\"a\",\"b, c\",\"d\"\"e\"\n1,2,3\n4,5,-6.5",
        "a;b;c\n1;2;3\n4;5;-6.5",
        "a b c\n1 2 3\n4 5 -6.5",
        ",a,b,c\n0,1,2,3\n1,4,5,-6.5",
        ",0,1,2\n0,1,2,3\n1,4,5,-6.5",
        "a,b,c\nr1,1,2,3\nr2,4,5,-6.5",
    ];
    for text in same {
        let table = read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((table.n_samples, table.n_features), (2, 3), "{text:?}");
        assert_eq!(values(&table), [1.0, 2.0, 3.0, 4.0, 5.0, -6.5], "{text:?}");
        assert_eq!(table.samples().get(1, 2), -6.5);
    }
    let named = read("\"a\",\"b, c\",\"d\"\"e\"\n1,2,3\n").unwrap();
    assert_eq!(named.column_names.unwrap(), ["a", "b, c", "d\"e"]);
    assert_eq!(read("a,b,c\nr1,1,2,3\nr2,4,5,6\n").unwrap().ids.unwrap(), ["r1", "r2"]);
    let one = read("7\n8\n9\n").unwrap();
    assert_eq!((one.n_samples, one.n_features), (3, 1));
    let row = read("1,2,3").unwrap();
    assert_eq!((row.n_samples, row.n_features), (1, 3));
    let spaced = LoadOptions { delimiter: Some(b' '), ..LoadOptions::default() };
    assert_eq!(read_with("1  2\n3 4\n", &spaced).unwrap().n_features, 2);
}

#[test]
fn classes_names_and_columns_are_taken_as_asked() {
    let iris = "a,b,species\n1,2,setosa\n3,4,virginica\n5,6,setosa\n";
    let table = read_with(iris, &truth("species")).unwrap();
    assert_eq!(table.column_names.unwrap(), ["a", "b"]);
    let classes = table.truth.unwrap();
    assert_eq!(
        (classes.codes, classes.names),
        (vec![0, 1, 0], vec!["setosa".to_owned(), "virginica".to_owned()])
    );
    assert_eq!(read_with(iris, &truth("-1")).unwrap().truth.unwrap().names.len(), 2);
    let bare = "1,2,setosa\n3,4,virginica\n";
    assert_eq!(read_with(bare, &truth("2")).unwrap().n_samples, 2);
    let some = LoadOptions { columns: Some(vec!["b".to_owned()]), ..truth("species") };
    assert_eq!(values(&read_with(iris, &some).unwrap()), [2.0, 4.0, 6.0]);
    let ids = LoadOptions { id_column: Some("species".to_owned()), ..LoadOptions::default() };
    assert_eq!(read_with(iris, &ids).unwrap().ids.unwrap(), ["setosa", "virginica", "setosa"]);
    let blanks = read_with("1 2 x\n3  4 y\n", &truth("2")).unwrap();
    assert_eq!(blanks.truth.unwrap().names, ["x", "y"]);
    let quoted = read_with("a,c\n1,\"x, y\"\n2,\"two\nlines\"\n", &truth("c")).unwrap();
    assert_eq!(quoted.truth.unwrap().names, ["two\nlines", "x, y"]);
    let header = LoadOptions { header: Some(true), ..LoadOptions::default() };
    assert_eq!(read_with("1,2\n3,4\n", &header).unwrap().column_names.unwrap(), ["1", "2"]);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        refused("a,species\n1,setosa\n2,virginica\n"),
        "t.csv: line 2, column \"species\" (index 1): \"setosa\" is not a number; name the columns to use with \
         `columns`, the column of classes with `truth`, or of row names with `id_column`"
    );
    assert!(refused("1,2\n3,nan\n").contains("line 2, column 1 (from 0): nan is not a finite"));
    assert!(refused("1,2\n3,1e999\n").contains("1e999 is not a finite"));
    assert!(refused("a,b\n1,2\n3,\n").contains("line 3, column \"b\" (index 1): the cell is empty"));
    assert!(refused("a,b\n1,2\n3,NA\n").contains("looks like a missing value"));
    assert!(
        refused("a,b\n1,2\n\n3,4,5\n")
            .contains("line 4 has 3 cells where 2 are expected (cells are separated by commas")
    );
    assert!(refused("a\tb\n1\t2\n3\n").contains("line 3 has 1 cells"));
    assert!(refused("a,b,c\n").contains("header and no rows"));
    assert!(refused("").contains("empty"));
    assert!(refused("\n# nothing\n\n").contains("no rows"));
    assert!(refused("a,b\n1,\"2\n3,4\n").contains("quote"));
    let numpy = load_bytes(b"\x93NUMPY\x01".to_vec(), Format::Csv, "t.csv", &LoadOptions::default());
    assert!(numpy.unwrap_err().to_string().contains("looks like NPY (`format` npy)"));
    assert!(refused("1,2\n3,4\0").contains("zero bytes"));
    let twice = read_with("a,a\n1,2\n", &truth("a")).unwrap_err().to_string();
    assert!(twice.contains("more than once"), "{twice}");
    assert_eq!(read("a,a\n1,2\n").unwrap().n_features, 2);
    let typo = read_with("a,species\n1,x\n", &truth("specie")).unwrap_err().to_string();
    assert!(typo.contains("did you mean \"species\"?"), "{typo}");
    let limit = LoadOptions { max_bytes: Some(5), ..LoadOptions::default() };
    assert!(read_with("1,2\n3,4\n", &limit).unwrap_err().to_string().contains("`max_bytes`"));
    let late = format!("{}1,2,3\n", "1,2,3,\n".repeat(40));
    assert!(refused(&late).contains("line 41 has 3 cells"));
    let behind = format!("{}1,2,3,4\n", "1,2,3,\n".repeat(40));
    assert!(refused(&behind).contains("line 41: \"4\" stands behind"));
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = std::env::temp_dir().join(format!("nearfar-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let problem = |name: &str| load(&folder.join(name), &LoadOptions::default()).unwrap_err().problem;
    assert!(matches!(problem("none.csv"), LoadProblem::NotFound));
    assert!(matches!(problem(""), LoadProblem::IsDirectory));
    std::fs::write(folder.join("empty.csv"), "").unwrap();
    assert!(matches!(problem("empty.csv"), LoadProblem::Empty { .. }));
    std::fs::write(folder.join("x.cvs"), "1,2\n").unwrap();
    let unknown = problem("x.cvs").to_string();
    assert!(unknown.contains("did you mean \"csv\"?") && unknown.contains(".feather"), "{unknown}");
    std::fs::write(folder.join("y.txt"), "cat\ndog\n").unwrap();
    std::fs::write(folder.join("x.csv"), "1,2\n3,4\n").unwrap();
    let options = LoadOptions { truth: Some(Truth::File(folder.join("y.txt"))), ..LoadOptions::default() };
    assert_eq!(load(&folder.join("x.csv"), &options).unwrap().truth.unwrap().names, ["cat", "dog"]);
    std::fs::write(folder.join("y.txt"), "cat\ndog\ncow\n").unwrap();
    let error = load(&folder.join("x.csv"), &options).unwrap_err();
    assert!(matches!(error.problem, LoadProblem::TruthLength { found: 3, expected: 2 }), "{error}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.join("x.csv"), std::fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read it all the same.
        if std::fs::File::open(folder.join("x.csv")).is_err() {
            assert!(matches!(problem("x.csv"), LoadProblem::Unreadable(_)));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!("Feather".parse::<Format>().unwrap(), Format::Arrow);
    assert!("exel".parse::<Format>().is_err());
    assert_eq!(Format::of("a/b.data.GZ".as_ref()).unwrap(), Format::Text);
    assert!(Format::of("b.npy.gz".as_ref()).is_err());
}

#[test]
fn labels_are_read_from_text() {
    let labels = |text: &str| text::read_labels(text.as_bytes(), &LoadOptions::default());
    assert_eq!(labels("2\n1\n2\n").unwrap().codes, [1, 0, 1]);
    assert_eq!(labels("label\n2\n1\n").unwrap().names, ["1", "2"]);
    assert_eq!(labels("Iris setosa\nIris virginica\r\n").unwrap().names, ["Iris setosa", "Iris virginica"]);
    assert_eq!(labels("id,label\na,3\nb,4\n").unwrap().names, ["3", "4"]);
    assert_eq!(labels("1.000000000000000000e+00\n2.000000000000000000e+00\n").unwrap().names, ["1", "2"]);
    assert!(labels("a,b\n1,2\n").is_err());
    assert!(labels("").is_err());
    assert!(labels("label\n").is_ok_and(|only| only.names == ["label"]));
}

#[test]
fn gzip_is_seen_through_and_bombs_are_not() {
    let zip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let table = load_bytes(zip(b"1,2\n3,4\n"), Format::Csv, "t.csv.gz", &LoadOptions::default()).unwrap();
    assert_eq!(values(&table), [1.0, 2.0, 3.0, 4.0]);
    let mut cut = zip(&b"1,2\n".repeat(1000));
    cut.truncate(cut.len() - 9);
    assert!(load_bytes(cut, Format::Csv, "t.csv.gz", &LoadOptions::default()).is_err());
    let bomb = zip(&vec![b'1'; 300 << 20]);
    let error = load_bytes(bomb, Format::Csv, "t.csv.gz", &LoadOptions::default()).unwrap_err();
    assert!(matches!(error.problem, LoadProblem::TooLarge { .. }), "{error}");
}

#[test]
fn tables_make_the_round_trip_through_csv() {
    let options = LoadOptions { id_column: Some("n".to_owned()), ..truth("c") };
    let table =
        read_with("n,a,b,c\n\"x,1\",0.1,1e-300,\"q\"\"\"\ny,-0.0,123456789.125,z\n", &options).unwrap();
    let mut csv = Vec::new();
    table.write_csv(&mut csv).unwrap();
    let options = LoadOptions { id_column: Some("id".to_owned()), ..truth("truth") };
    let again = load_bytes(csv, Format::Csv, "again.csv", &options).unwrap();
    assert_eq!(table, again);
}

#[test]
fn any_number_of_threads_gives_the_same_table() {
    use std::fmt::Write;
    let mut text = String::new();
    for i in 0..400_000 {
        writeln!(text, "{i}.5,{},{}", i % 7, -i).unwrap();
    }
    let in_pool = |threads: usize, text: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| read(text))
    };
    let one = in_pool(1, &text).unwrap();
    assert_eq!(one.n_samples, 400_000);
    assert_eq!(one.samples().get(399_999, 0), 399_999.5);
    assert_eq!(one, in_pool(3, &text).unwrap());
    let bad = text + "1,x,2\n1,y\n";
    for threads in [1, 3] {
        assert!(
            in_pool(threads, &bad).unwrap_err().to_string().contains("line 400001, column 1 (from 0): \"x\"")
        );
    }
}

#[test]
fn damaged_text_never_panics() {
    let plain = "a,b,c\n1,2,3\n4,5.5,6e3\n-7,8,9\n";
    let quoted = "id;\"b\";c\n\"r;1\";2;x\n\"r\"\"2\";5.5;y\n";
    let blanks = "# c\n 1  2\t3\r\n4 5 6\r\n";
    let options = LoadOptions { id_column: Some("0".to_owned()), ..truth("-1") };
    for (text, options) in [(plain, &LoadOptions::default()), (quoted, &options), (blanks, &options)] {
        damage(text.as_bytes(), 6000, |bytes| load_bytes(bytes, Format::Text, "t", options).is_ok());
        damage(text.as_bytes(), 2000, |bytes| text::read_labels(&bytes, options).is_ok());
    }
}

#[test]
fn real_text_files_equal_the_arrays_beside_them() {
    // Semeion's classes are ten more columns, one of them 1.
    for (raw, npz, n_skip) in [
        ("seeds_dataset.txt", "seeds", 1),
        ("semeion.data", "semeion", 10),
        ("synthetic_control.data", "chart", 0),
    ] {
        let (Some(raw), Some(npz)) = (shared(&format!("raw/{raw}")), shared(&format!("{npz}.npz"))) else {
            continue;
        };
        let text = load(&raw, &LoadOptions::default()).unwrap();
        let arrays = load(&npz, &truth("y")).unwrap();
        assert_eq!((text.n_samples, text.n_features), (arrays.n_samples, arrays.n_features + n_skip));
        for i in 0..text.n_samples {
            for j in 0..arrays.n_features {
                assert_eq!(text.samples().get(i, j), arrays.samples().get(i, j), "{raw:?} ({i}, {j})");
            }
        }
        if n_skip == 1 {
            let labelled = load(&raw, &truth("-1")).unwrap();
            assert_eq!(labelled.n_features, 7);
            assert_eq!(labelled.truth.unwrap().codes, arrays.truth.unwrap().codes);
        }
    }
}
