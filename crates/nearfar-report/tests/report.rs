//! Pages of every kind of run.

use nearfar::learn::{Engine, MethodKind, MethodParams, NearFarParams};
use nearfar::model::{BlockMeans, SaveOptions};
use nearfar::observe::Silent;
use nearfar::{Input, NeighborLists, Params, Run, Samples, SavedModel};
use nearfar_report::{Extras, KnownClasses, Record, comparison, gather, page};

const HOSTILE: &str = "</script></template><img src=x onerror=alert(1)>'\"&amp;,\n=1+1";

fn blobs(n: usize, clusters: usize) -> nearfar::generate::Generated {
    let mut data = nearfar::generate::blobs(n, 2, clusters, 0.4, 1).unwrap();
    // Some methods take no values below 0.
    let least = data.data.iter().copied().fold(0.0, f64::min);
    data.data.iter_mut().for_each(|x| *x -= least);
    data
}

/// A run with everything that a page can show.
fn record(n: usize, params: &Params, names: Option<&str>) -> Record {
    let data = blobs(n, 3);
    let input = Input::from(Samples::from_rows(&data.data, n, 2).unwrap());
    let model = Run::new(params).fit(input).unwrap();
    let name = |at: usize| names.map_or_else(|| format!("name {at}"), |name| format!("{name}{at}"));
    let options = SaveOptions { feature_names: Some(vec![name(0), name(1)]), ..SaveOptions::default() };
    let saved = SavedModel::new(&model, &input, &options);
    let blocks = Extras::blocks(&model.labels, &model.membership).unwrap();
    let classes = data.truth.iter().max().unwrap() + 1;
    let extras = Extras {
        program: name(0),
        input: name(1),
        source: name(2),
        ids: Some((0..n).map(name).collect()),
        truth: Some(KnownClasses { codes: data.truth.clone(), names: (0..classes).map(name).collect() }),
        means: model.block_means(&blocks).unwrap(),
        trusted: Some(model.trusted(24)),
        correct: model.correct_rate(&data.truth).unwrap().filter(|_| !model.near_weights.is_empty()),
        notes: Some(vec![name(0)]),
        settings: vec![(name(0), name(1))],
        command: name(3),
        seconds: Some(vec![(name(0), 1.5)]),
        ..Extras::default()
    };
    gather(&saved, Some(&input), extras).unwrap()
}

/// What a figure gives away as CSV, without the escapes of HTML.
fn csv(page: &str, figure: &str) -> String {
    let from = page.find(&format!("id=\"{figure}\"")).unwrap_or_else(|| panic!("no figure {figure}"));
    let rest = &page[from..];
    let start = rest.find("<template class=\"data\">").unwrap() + "<template class=\"data\">".len();
    let text = &rest[start..start + rest[start..].find("</template>").unwrap()];
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn the_same_run_gives_the_same_page() {
    for params in [Params::lsdg(3).starts(2), Params::new(3)] {
        let (a, mut b) = (record(60, &params, None), record(60, &params, None));
        let again = Record::from_json(&a.to_json()).unwrap();
        assert_eq!(a, b);
        b.seconds = vec![("learn".to_owned(), 99.5)];
        assert_eq!((again.to_json(), page(&again)), (a.to_json(), page(&b)), "times are on the page");
    }
}

#[test]
fn hostile_names_stay_text() {
    let record = record(60, &Params::lsdg(3).starts(2), Some(HOSTILE));
    for html in [page(&record), comparison(&record, &record, [HOSTILE, HOSTILE])] {
        assert!(!html.contains("<img"), "a name became a tag");
        for (tag, times) in [("<script", 1), ("</script", 1), ("<style", 1), ("</style", 1)] {
            assert_eq!(html.matches(tag).count(), times, "{tag}");
        }
        assert_eq!(html.matches("<template").count(), html.matches("</template").count());
        assert!(html.contains("&lt;img src=x"));
    }
    assert!(csv(&page(&record), "columns").contains("</script></template><img src=x"));
}

#[test]
fn numbers_in_the_csv_are_those_of_the_run() {
    let record = record(60, &Params::lsdg(3).starts(2), None);
    let html = page(&record);
    let text = csv(&html, "weights-chart");
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), record.near.len());
    let rate = record.correct.as_ref().unwrap();
    for (rank, row) in rows.iter().enumerate() {
        assert_eq!(row[..], [rank as f64, record.near[rank], record.far[rank], rate[rank]]);
    }
    let sizes = csv(&html, "sizes");
    let sum: usize =
        sizes.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(sum, 60);
    assert_eq!(csv(&html, "points").lines().count(), 61);
}

#[test]
fn every_method_has_a_page() {
    for kind in MethodKind::ALL {
        let mut params = Params::of(3, kind);
        params.set_if_used("starts", 2_usize).unwrap();
        let record = record(45, &params, None);
        let html = page(&record);
        let has = |anchor: &str| html.contains(&format!("<section id=\"{anchor}\">"));
        assert!(has("data") && has("clusters") && has("truth") && has("run"), "{kind}");
        let default = kind == MethodKind::NearFar;
        assert_eq!(has("spectrum"), kind == MethodKind::Lsdg, "{kind}");
        // Three round blobs may be answered by a mixture, which has no weights.
        assert!(default || has("weights") == (kind == MethodKind::Lsdg), "{kind}");
        assert_eq!(has("sure"), default, "{kind}");
        assert!(!default || !has("learning"), "the trace of two rounds is no chart");
        assert!(!html.contains("NaN") && !html.contains("inf "), "{kind}");
        assert_eq!(html.matches("<article class=\"story\"").count(), 3, "{kind}: a card for every cluster");
        assert_eq!(Record::from_json(&record.to_json()).unwrap(), record, "{kind}");
    }
}

/// The page of a fit of this input without anything else known.
fn plain(input: &Input<'_>, params: &Params) -> String {
    let model = Run::new(params).fit(input).unwrap();
    let saved = SavedModel::new(&model, input, &SaveOptions { similarity: true, ..SaveOptions::default() });
    let extras = Extras::of_saved(&saved, None, None, &Silent).unwrap();
    let record = gather(&saved, Some(input), extras).unwrap();
    assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
    page(&record)
}

#[test]
fn small_and_odd_runs_have_a_page() {
    let data = blobs(30, 3);
    let samples = |n: usize| Input::from(Samples::from_rows(&data.data[..2 * n], n, 2).unwrap());
    assert!(plain(&samples(30), &Params::lsdg(1)).contains("One cluster of 30 points"));
    assert!(plain(&samples(4), &Params::lsdg(4)).contains("4 clusters in 4 points"));
    assert!(plain(&samples(1), &Params::lsdg(1)).contains("One cluster of 1 point"));
    assert!(plain(&samples(3), &Params::lsdg(2)).contains("2 clusters"));
    let one = plain(&samples(30), &Params::new(1));
    assert!(one.contains("One cluster of 30 points") && !one.contains("<section id=\"sure\">"));
    assert!(plain(&samples(4), &Params::new(4)).contains("4 clusters in 4 points"));
    assert!(plain(&samples(1), &Params::new(1)).contains("One cluster of 1 point"));
    assert!(plain(&samples(3), &Params::new(2)).contains("2 clusters"));
    assert!(plain(&samples(30), &Params::auto()).contains("cluster"));
    let equal = [1.5; 40];
    assert!(
        plain(&Input::from(Samples::from_rows(&equal, 20, 2).unwrap()), &Params::lsdg(1))
            .contains("19 rows are exact copies")
    );
    let line: Vec<f64> = (0..24).map(|i| f64::from(i % 2) * 100.0 + f64::from(i)).collect();
    assert!(
        plain(&Input::from(Samples::from_rows(&line, 24, 1).unwrap()), &Params::lsdg(2))
            .contains("2 clusters")
    );
    let huge: Vec<f64> = line.iter().map(|x| x * 1e150).collect();
    assert!(
        plain(&Input::from(Samples::from_rows(&huge, 24, 1).unwrap()), &Params::lsdg(2))
            .contains("2 clusters")
    );
}

/// A run of the default method by neighbour graphs, with everything known.
fn by_graph(params: &Params, names: Option<&str>) -> Record {
    let own = NearFarParams { engine: Engine::Graph, ..params.nearfar() };
    record(90, &Params { method: MethodParams::NearFar(own), ..params.clone() }, names)
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_default_method_tells_how_it_found_the_answer() {
    let record = by_graph(&Params::new(3), None);
    let html = page(&record);
    assert!(html.contains("3 clusters in 90 points") && html.contains(", by "), "the answer in a sentence");
    assert!(html.contains("How was it found?") && html.contains("mean confidence"));
    for section in ["views", "weights", "tree", "graphs", "sure", "clusters", "truth", "members", "run"] {
        assert!(html.contains(&format!("<section id=\"{section}\">")), "no section {section}");
    }
    for stage in ["learning", "spectrum", "count"] {
        assert!(!html.contains(&format!("<section id=\"{stage}\">")), "a section {stage}");
    }
    for absent in ["eigenvalue", "map-z", "map-v", "id=\"starts\"", "independent starts", "NaN"] {
        assert!(!html.contains(absent), "{absent}");
    }
    let members = rows(&csv(&html, "members-table"));
    assert!(members.len().is_multiple_of(4) && !members.is_empty(), "four members of every view");
    for (at, member) in members.iter().enumerate() {
        assert_eq!(member[2], ["6", "10", "15", "25"][at % 4]);
        assert!((-1.0..=1.0).contains(&member[3].parse::<f64>().unwrap()));
        assert!(member[4].parse::<f64>().unwrap() > 0.5, "{member:?}");
    }
    let views = rows(&csv(&html, "view-weights"));
    assert!(views.iter().any(|view| view[1] == "1"), "the best view has weight 1");
    let learnt: usize = views.iter().map(|view| view[4].parse::<usize>().unwrap()).sum();
    assert_eq!(learnt, members.len());
    // A row for every rank that was looked up, with its rate; the far ranks by what they share.
    let weights = csv(&html, "weights-chart");
    let columns: Vec<&str> = weights.lines().next().unwrap().split(',').collect();
    let place = |name: &str| columns.iter().position(|column| column.starts_with(name));
    let (near, rate) = (place("near").unwrap(), place("share").unwrap());
    let weights = rows(&weights);
    let sum: f64 = weights.iter().map(|row| row[near].parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    for (rank, row) in weights.iter().take(41).enumerate() {
        assert_eq!((row[0].parse::<usize>().unwrap(), row[rate].is_empty()), (rank, false));
    }
    assert_eq!(weights[0][rate], "1");
    assert!(weights.iter().skip(41).all(|row| row[near] == "0" && row[rate].is_empty()));
    if let (Some(far), Some(last)) = (place("far"), place("up to")) {
        let ranks = |row: &[String]| -> f64 {
            row[last].parse::<f64>().unwrap() - row[0].parse::<f64>().unwrap() + 1.0
        };
        let sum: f64 = weights.iter().map(|row| row[far].parse::<f64>().unwrap() * ranks(row)).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert_eq!(weights.iter().map(|row| ranks(row)).sum::<f64>(), 90.0);
    } else {
        assert_eq!(weights.len(), 41);
    }
    assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
    assert_eq!(page(&record), page(&by_graph(&Params::new(3), None)), "the same run, another page");
}

#[test]
fn confidence_counts_every_point() {
    let record = by_graph(&Params::new(3), None);
    let html = page(&record);
    let sum = |figure: &str, column: usize| -> usize {
        rows(&csv(&html, figure)).iter().map(|row| row[column].parse::<usize>().unwrap()).sum()
    };
    assert_eq!([sum("confidence", 2), sum("confidence-clusters", 1), sum("reliability", 2)], [90, 90, 90]);
    let points = csv(&html, "points");
    let place = points.lines().next().unwrap().split(',').position(|name| name == "confidence").unwrap();
    let sure: Vec<f64> = rows(&points).iter().map(|row| row[place].parse().unwrap()).collect();
    assert_eq!(sure.iter().filter(|sure| **sure < 0.5).count(), sum("confidence-clusters", 3));
    if html.contains("id=\"uncertain\"") {
        let least: Vec<f64> =
            rows(&csv(&html, "uncertain")).iter().map(|row| row[2].parse().unwrap()).collect();
        assert!(least.is_sorted(), "{least:?}");
        let lowest = sure.iter().copied().fold(1.0, f64::min);
        assert!((least[0] - lowest).abs() < 1e-3, "{least:?} and {lowest}");
    }
}

#[test]
fn the_tree_has_every_join() {
    let html = page(&by_graph(&Params::new(3), None));
    let joins = rows(&csv(&html, "merges"));
    let number = |row: &[String], at: usize| row[at].parse::<usize>().unwrap();
    assert!(joins.len() >= 3);
    for (at, join) in joins.iter().enumerate() {
        assert_eq!(number(join, 0), at + 1, "the last join first");
    }
    assert_eq!(number(&joins[0], 2) + number(&joins[0], 4), 90, "the last join has all points");
    assert!(html.contains("cluster 0 ·"), "leaves have no names");
}

#[test]
fn the_slider_has_every_level_of_the_tree() {
    let record = by_graph(&Params::new(3), None);
    let html = page(&record);
    let text = &html[html.find("<template class=\"joins\">").unwrap() + 24..];
    let mut lines = text[..text.find('<').unwrap()].lines();
    let numbers = |line: &str| line.split(' ').map(|x| x.parse::<usize>().unwrap()).collect::<Vec<_>>();
    let sizes = numbers(lines.next().unwrap());
    assert_eq!(sizes.iter().sum::<usize>(), 90);
    let joins: Vec<_> = lines.map(numbers).collect();
    assert_eq!(joins.len() + 1, sizes.len());
    // At three clusters the leaves go where the labels are.
    let mut goes: Vec<usize> = (0..sizes.len()).collect();
    for join in joins[..sizes.len() - 3].iter().rev() {
        goes[join[0]] = goes[join[1]];
    }
    let points = csv(&html, "points");
    let leaf = points.lines().next().unwrap().split(',').position(|name| name == "leaf").unwrap();
    for row in rows(&points) {
        assert_eq!(goes[row[leaf].parse::<usize>().unwrap()], row[1].parse::<usize>().unwrap());
    }
    assert!(html.contains("id=\"levels\"") && html.contains("data-shows=\"points\""));
}

#[test]
fn a_page_obeys_its_own_style_and_script_only() {
    let html = page(&by_graph(&Params::new(3), None));
    assert!(html.contains("script-src 'sha256-") && html.contains("style-src 'sha256-"));
    assert!(!html.contains("unsafe") && !html.contains(" style=") && !html.contains(" onclick="));
}

#[test]
fn a_number_that_was_found_is_told_with_its_curve() {
    let record = by_graph(&Params::auto(), None);
    let html = page(&record);
    assert!(html.contains("<section id=\"count\">") && html.contains("How many?"));
    let gaps = rows(&csv(&html, "gaps"));
    assert_eq!(gaps[0][0], "2");
    assert!(gaps.iter().all(|gap| gap[1].parse::<f64>().unwrap().is_finite()));
    let noise: Vec<f64> = (0..400).map(|at| f64::from((at * 7919 + at * at * 31) % 1009)).collect();
    let input = Input::from(Samples::from_rows(&noise, 200, 2).unwrap());
    let own = NearFarParams { engine: Engine::Graph, ..NearFarParams::default() };
    let params = Params { method: MethodParams::NearFar(own), ..Params::auto() };
    let model = Run::new(&params).fit(input).unwrap();
    let html = plain(&input, &params);
    let stand_out = model.account.as_ref().unwrap().count.as_ref().unwrap().groups;
    assert_eq!(html.contains("No groups stand out"), !stand_out);
    assert_eq!(html.contains("No groups stand out in 200 points"), !stand_out);
}

#[test]
fn a_mixture_tells_its_tests() {
    let mut record =
        serde_json::from_str::<serde_json::Value>(&by_graph(&Params::new(3), None).to_json()).unwrap();
    let tests = |explains: bool, told: f64| serde_json::json!({ "explains": explains, "parts": 3, "covariance": "tied", "tail": 5.0, "told": told, "sharpness": 0.61, "drawn_sharpness": 0.615 });
    record["account"]["mixture"] = tests(false, 0.63);
    let html = page(&Record::from_json(&record.to_string()).unwrap());
    assert!(html.contains("was tried first and does not explain the rows") && html.contains("T = 0.630"));
    record["account"]["engine"] = "mixture".into();
    record["account"]["members"] = serde_json::json!([]);
    record["account"]["mixture"] = tests(true, 0.51);
    (record["near"], record["far"], record["starts"]) =
        (serde_json::json!([]), serde_json::json!([]), serde_json::json!([]));
    record["correct"] = serde_json::Value::Null;
    let html = page(&Record::from_json(&record.to_string()).unwrap());
    assert!(html.contains("by a mixture of 3 heavy-tailed parts") && html.contains("T = 0.510"));
    assert!(html.contains("explains the rows") && !html.contains("<section id=\"members\">"));
    let told = rows(&csv(&html, "mixture"));
    assert!(told.iter().all(|test| test[test.len() - 1] == "yes"), "{told:?}");
}

#[test]
fn names_of_the_default_method_stay_text() {
    let record = by_graph(&Params::new(3), Some(HOSTILE));
    for html in [page(&record), comparison(&record, &record, [HOSTILE, HOSTILE])] {
        assert!(!html.contains("<img") && html.matches("<script").count() == 1, "a name became a tag");
    }
}

#[test]
fn records_of_older_versions_are_drawn() {
    let record = record(45, &Params::lsdg(3).starts(2), None);
    let mut old: serde_json::Value = serde_json::from_str(&record.to_json()).unwrap();
    for part in ["account", "confidence", "tree"] {
        assert!(old.get(part).is_none(), "{part} of a method that has none");
        old.as_object_mut().unwrap().remove(part);
    }
    assert_eq!(page(&Record::from_json(&old.to_string()).unwrap()), page(&record));
    let mut new: serde_json::Value =
        serde_json::from_str(&by_graph(&Params::auto(), None).to_json()).unwrap();
    new["account"]["later"] = 1.into();
    // Squares in place of points, as older records have them for many points.
    let mut many = new.clone();
    many["points"] = serde_json::json!([]);
    let square = serde_json::json!({"at": [0.5, 1.5], "count": 90, "label": 1, "share": 0.75, "id": "7", "membership": 0.5});
    for view in many["views"].as_array_mut().unwrap() {
        view["squares"] = serde_json::json!([square]);
    }
    let html = page(&Record::from_json(&many.to_string()).unwrap());
    assert!(html.contains("data-kind=\"squares\"") && html.contains("A mark stands for all points"));
    assert!(!html.contains("class=\"levels\""), "squares have no leaves");
    new["account"].as_object_mut().unwrap().remove("judged_on");
    assert!(page(&Record::from_json(&new.to_string()).unwrap()).contains("How many?"));
}

#[test]
fn agreement_is_told_of_the_starts_that_were_kept() {
    let record = record(60, &Params::lsdg(3).starts(4), None);
    let kept = record.starts.iter().filter(|start| start.kept).count();
    let html = page(&record);
    assert_eq!(html.contains("4 independent starts agree"), kept == 4);
    assert_eq!(
        html.contains(&format!("{kept} independent starts (those that were kept of 4)")),
        (2..4).contains(&kept)
    );
}

#[test]
fn pairs_have_a_page() {
    let data = blobs(30, 3);
    let far = |i: usize, j: usize| {
        (data.data[2 * i] - data.data[2 * j]).hypot(data.data[2 * i + 1] - data.data[2 * j + 1])
    };
    let distances: Vec<f64> = (0..900).map(|at| far(at / 30, at % 30)).collect();
    let affinities: Vec<f64> = distances.iter().map(|d| (-d * d).exp()).collect();
    let matrix = Samples::from_rows(&distances, 30, 30).unwrap();
    let html = plain(&Input::Distances(matrix), &Params::lsdg(3).starts(2));
    assert!(html.contains("a matrix of distances") && html.contains("Distances of pairs"));
    let html = plain(&Input::Distances(matrix), &Params::new(3));
    assert!(html.contains("by the neighbour graph of the pairs") && html.contains("Pairs have no columns"));
    let matrix = Samples::from_rows(&affinities, 30, 30).unwrap();
    assert!(plain(&Input::Affinities(matrix), &Params::lsdg(3).starts(2)).contains("Affinities of pairs"));
    let (mut indices, mut lengths) = (Vec::new(), Vec::new());
    for i in 0..30 {
        let mut order: Vec<usize> = (0..30).filter(|j| *j != i).collect();
        order.sort_by(|a, b| far(i, *a).total_cmp(&far(i, *b)));
        for j in &order[..8] {
            indices.push(*j as u32);
            lengths.push(far(i, *j));
        }
    }
    let lists = NeighborLists::new(&indices, &lengths, 30, 8).unwrap();
    assert!(plain(&Input::Neighbors(lists), &Params::lsdg(3).starts(2)).contains("lists of neighbours"));
}

#[test]
fn seventy_thousand_points_stay_below_three_megabytes() {
    let n = 70_000;
    let data = blobs(n, 10);
    let input = Input::from(Samples::from_rows(&data.data, n, 2).unwrap());
    let params = Params::of(10, MethodParams::KMeans).starts(1);
    let model = Run::new(&params).fit(input).unwrap();
    let mut saved = SavedModel::new(&model, &input, &SaveOptions::default());
    // What a full run of this size would hold, as many digits as there can be.
    let noise = |at: usize| ((at * 7919 + 13) % 10_007) as f64 / 10_007.3 + 1e-3;
    saved.near_weights = (0..n).map(|at| noise(at) / n as f64).collect();
    saved.far_weights = (0..n).map(|at| noise(at + 5) / n as f64).collect();
    saved.sigma = Some((0..n).map(noise).collect());
    saved.membership = (0..n * 10).map(noise).collect();
    saved.trace =
        (0..12 * 12_000).map(|at| if at % 12 == 0 { (at / 12_000) as f64 } else { noise(at) }).collect();
    let mut means = BlockMeans::default();
    let full = || {
        Some(
            (0..256 * 256)
                .map(|at| noise((at / 256).min(at % 256) * 256 + (at / 256).max(at % 256)))
                .collect(),
        )
    };
    (means.similarity, means.dissimilarity, means.gram, means.augmented) = (full(), full(), full(), full());
    let ids = (0..n).map(|at| format!("a rather long name of point {at}")).collect();
    let correct = Some((0..n).map(noise).collect());
    let extras = Extras { ids: Some(ids), means, correct, ..Extras::default() };
    let record = gather(&saved, Some(&input), extras).unwrap();
    let html = page(&record);
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    assert!(html.contains("taken by chance"), "nobody says that the points are a sample");
    assert!(csv(&html, "points").lines().count() <= 3_001);
    println!("{} bytes of page, {} of record", html.len(), record.to_json().len());
}

#[test]
fn damaged_parts_of_the_default_method_are_refused() {
    let whole: serde_json::Value = serde_json::from_str(&by_graph(&Params::new(3), None).to_json()).unwrap();
    let damages: [&dyn Fn(&mut serde_json::Value); 5] = [
        &|v| v["tree"]["merges"][0] = serde_json::json!([5, 5, 1.0]),
        &|v| v["tree"]["leaves"][0] = serde_json::json!([5_000, 0]),
        &|v| v["tree"]["leaves"][0][1] = 99.into(),
        &|v| v["confidence"]["clusters"] = serde_json::json!([]),
        &|v| v["confidence"]["histogram"]["edges"] = serde_json::json!([0.0]),
    ];
    for change in damages {
        let mut value = whole.clone();
        change(&mut value);
        assert!(Record::from_json(&value.to_string()).unwrap_err().to_string().contains("damaged"));
    }
}

#[test]
fn damaged_records_are_refused() {
    let record = record(45, &Params::lsdg(3).starts(1), None);
    let whole: serde_json::Value = serde_json::from_str(&record.to_json()).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = whole.clone();
        change(&mut value);
        Record::from_json(&value.to_string()).unwrap_err().to_string()
    };
    assert!(refused(&|v| v["format"] = "other".into()).contains("no record of a run"));
    assert!(refused(&|v| v["version"] = 9.into()).contains("version 9"));
    assert!(Record::from_json("{").unwrap_err().to_string().contains("no record"));
    let damages: [&dyn Fn(&mut serde_json::Value); 8] = [
        &|v| v["labels"][0] = 99.into(),
        &|v| v["labels"] = serde_json::json!([0]),
        &|v| v["near"] = serde_json::json!([1.0]),
        &|v| v["maps"][0]["size"] = 1_000_000_007.into(),
        &|v| v["points"][3]["neighbors"] = serde_json::json!([4_000_000]),
        &|v| v["crossed"] = serde_json::json!([1.0]),
        &|v| v["truth"]["counts"] = serde_json::json!([1]),
        &|v| v["trace"][0] = serde_json::json!([]),
    ];
    for change in damages {
        assert!(refused(change).contains("damaged"));
    }
}
