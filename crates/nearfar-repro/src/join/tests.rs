use super::*;
use crate::report::{self, tests::small};

/// The small table with another column, other rows and other values.
fn part(name: &str, column: &str, rows: [&str; 2], add: f64) -> Part {
    let (mut table, provenance) = small();
    table.columns[0].title = column.into();
    for (line, row) in table.halves[0].lines.iter_mut().zip(rows) {
        line.name = row.into();
        for cell in line.cells.iter_mut().flatten().flatten() {
            cell.mean += add;
            cell.values.iter_mut().for_each(|value| *value += add);
        }
    }
    Part { name: name.into(), table, provenance }
}

fn means(table: &ResultTable, line: usize) -> Vec<Option<f64>> {
    let cells = &table.halves[0].lines[line].cells;
    cells.iter().map(|cell| cell.as_ref().map(|cell| (cell[0].mean * 100.0).round() / 100.0)).collect()
}

#[test]
fn rows_and_datasets_are_put_together_and_ranked_anew() {
    let parts = [
        part("a.json", "X", ["p", "q"], 0.0),
        part("b.json", "Y", ["p", "q"], 0.1),
        part("c.json", "X", ["r", "s"], 0.2),
    ];
    let (table, provenance) = join(&parts, Origin::default()).unwrap();
    assert_eq!(table.columns.iter().map(|c| c.title.as_str()).collect::<Vec<_>>(), ["X", "Y"]);
    assert_eq!(means(&table, 0), [Some(0.62), Some(0.72)]);
    assert_eq!(means(&table, 2), [Some(0.82), None]);
    let lines = &table.halves[0].lines;
    let place = |line: usize, d: usize| lines[line].cells[d].as_ref().and_then(|cell| cell[0].place);
    assert_eq!([place(0, 0), place(2, 0), place(3, 0)], [None, Some(1), Some(2)]);
    assert_eq!([place(0, 1), place(1, 1)], [Some(1), Some(2)]);
    assert!((lines[0].mean[0].unwrap() - 0.67).abs() < 1e-12);
    assert_eq!(lines[2].mean, [None, None]);
    assert_eq!((provenance.parts.len(), provenance.run_seconds), (3, 12.0));
    assert_eq!(table.protocol, "Two starts.");
    let markdown = report::markdown(&table, &provenance);
    assert!(markdown.contains("| – |") && markdown.contains("a.json b.json c.json"), "{markdown}");
    for text in [report::html(&table, &provenance, &[]), report::latex(&table, &provenance)] {
        assert!(text.contains("–") || text.contains("--"), "{text}");
    }
    // Put together once more it is what it was, with the same three parts behind it.
    let again = Part { name: "d.json".into(), table: table.clone(), provenance };
    let (twice, provenance) = join(&[again], Origin::default()).unwrap();
    assert_eq!(report::csv(&twice), report::csv(&table));
    assert_eq!(provenance.parts.len(), 3);
}

#[test]
fn rows_with_nothing_to_tune_stand_in_both_halves() {
    let tuned = part("a.json", "X", ["p", "q"], 0.0);
    let mut both = tuned.clone();
    both.table.halves[0].lines.truncate(1);
    let mut other = both.table.halves[0].clone();
    other.title = "No labels used".into();
    other.lines[0].choice = Choice::Defaults;
    both.table.halves.push(other);
    let plain = part("b.json", "X", ["r", "s"], 0.1);
    let mut plain = Part { name: "b.json".into(), ..plain };
    plain.table.halves[0].lines.remove(0);
    let (table, _) = join(&[both, plain], Origin::default()).unwrap();
    let names = |half: &Half| half.lines.iter().map(|line| line.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&table.halves[0]), ["p", "s"]);
    assert_eq!(names(&table.halves[1]), ["p", "s"]);
}

#[test]
fn remarks_on_rows_of_the_paper_are_those_of_today() {
    let mut parts = [part("a.json", "X", ["RBSMF", "S3NMF"], 0.0)];
    parts[0].table.name = "table-clustering".into();
    let (table, _) = join(&parts, Origin::default()).unwrap();
    let remarks = |row: &str| table.notes.iter().filter(|note| note.starts_with(row)).count();
    assert_eq!(
        [remarks("S3NMF: "), remarks("RBSMF: "), remarks("CGSymNMF: ")],
        [1, 1, 0],
        "{:?}",
        table.notes
    );
    // As the paper's study has them.
    assert_eq!(table.halves[0].lines[1].name, "S3NMF");
}

#[test]
fn smaller_protocols_are_said_of_whom_they_are() {
    let mut parts = [part("a.json", "X", ["p", "q"], 0.0), part("b.json", "Y", ["p", "q"], 0.0)];
    parts[1].table.protocol = "Five starts.".into();
    let (table, _) = join(&parts, Origin::default()).unwrap();
    assert_eq!(table.protocol, "Two starts. p, q on Y: Five starts.");
    // What is the same is not said again, nor twice what several have in common.
    let mut parts = [
        part("a.json", "X", ["p", "q"], 0.0),
        part("b.json", "Y", ["p", "q"], 0.0),
        part("c.json", "X", ["r", "s"], 0.0),
    ];
    parts[0].table.protocol = "Two starts. Grids whole. p: with seed 0.".into();
    parts[1].table.protocol = "Two starts. Grids thinned.".into();
    parts[2].table.protocol = "Two starts. Grids thinned.".into();
    let (table, _) = join(&parts, Origin::default()).unwrap();
    assert_eq!(
        table.protocol,
        "Two starts. Grids whole. p: with seed 0. p, q on Y; r, s on X: Grids thinned."
    );
    let (table, _) = join(&[parts[0].clone(), parts[2].clone()], Origin::default()).unwrap();
    assert_eq!(table.protocol, "Two starts. Grids whole. p: with seed 0. r, s: Grids thinned.");
}

#[test]
fn values_without_their_starts_are_not_tested() {
    let mut parts = [part("a.json", "X", ["p", "q"], 0.0), part("b.json", "X", ["r", "s"], 0.0)];
    for cell in parts[1].table.halves[0].lines.iter_mut().flat_map(|line| line.cells.iter_mut()) {
        cell.iter_mut().flatten().for_each(|cell| cell.values.clear());
    }
    let (table, provenance) = join(&parts, Origin::default()).unwrap();
    let equal = |line: usize| table.halves[0].lines[line].cells[0].as_ref().unwrap()[0].equals_best;
    // r has the mean of p, and would be told to equal it if its starts were known.
    assert!(equal(0) && !equal(2));
    assert!(report::markdown(&table, &provenance).contains("came without their single starts"));
    // What was tested within a part stays, as long as its best is the best.
    for part in &mut parts {
        part.table.halves[0].lines[1].cells[0].as_mut().unwrap()[0].equals_best = true;
        for cell in part.table.halves[0].lines.iter_mut().flat_map(|line| line.cells.iter_mut()) {
            cell.iter_mut().flatten().for_each(|cell| cell.values.clear());
        }
    }
    let (table, _) = join(&parts, Origin::default()).unwrap();
    let equal = |line: usize| table.halves[0].lines[line].cells[0].as_ref().unwrap()[0].equals_best;
    assert_eq!([0, 1, 2, 3].map(equal), [true, true, false, false]);
}

#[test]
fn a_table_is_cut_to_rows_and_datasets() {
    let parts = [part("a.json", "X", ["p", "q"], 0.0), part("b.json", "Y", ["p", "q"], 0.1)];
    let (whole, _) = join(&parts, Origin::default()).unwrap();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let mut table = whole.clone();
    cut(&mut table, Some(&names(&["q"])), Some(&names(&["Y"]))).unwrap();
    assert_eq!((table.columns.len(), means(&table, 0)), (1, vec![Some(0.6)]));
    let cell = &table.halves[0].lines[0].cells[0].as_ref().unwrap()[0];
    assert!(cell.place == Some(1) && cell.equals_best, "{cell:?}");
    assert_eq!(table.halves[0].lines.len(), 1);
    let mut table = whole.clone();
    cut(&mut table, None, None).unwrap();
    assert_eq!(report::csv(&table), report::csv(&whole));
    let error = cut(&mut table, Some(&names(&["z"])), None).unwrap_err();
    assert!(error.contains("--rows \"z\"") && error.ends_with("there are p, q"), "{error}");
    let error = cut(&mut table, None, Some(&names(&["Z"]))).unwrap_err();
    assert!(error.contains("--only \"Z\"") && error.ends_with("there are X, Y"), "{error}");
}

#[test]
fn what_does_not_fit_is_named() {
    let a = part("a.json", "X", ["p", "q"], 0.0);
    let twice = join(&[a.clone(), part("b.json", "X", ["q", "p"], 0.1)], Origin::default());
    // p of b.json has nothing to tune, p of a.json was chosen: two lines, no quarrel.
    assert_eq!(twice.unwrap().0.halves[0].lines.len(), 4);
    let error = join(&[a.clone(), part("b.json", "X", ["p", "z"], 0.1)], Origin::default()).unwrap_err();
    assert!(error.contains("p (best of the grid") && error.contains("a.json and in b.json"), "{error}");
    let mut other = part("b.json", "X", ["r", "s"], 0.1);
    other.table.columns[0].hash = "else".into();
    let error = join(&[a, other], Origin::default()).unwrap_err();
    assert!(error.contains("X in a.json and in b.json are other data"), "{error}");
    assert!(join(&[], Origin::default()).is_err());
}
