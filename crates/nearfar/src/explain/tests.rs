use super::*;
use crate::generate::blobs::mixture;
use crate::generate::customers;
use crate::math::rng::Stream;

fn told(data: &[f64], n: usize, labels: &[u32], k: usize, names: &[String]) -> Explanation {
    let samples = Samples::from_rows(data, n, data.len() / n).unwrap();
    explain(&Subject { feature_names: Some(names), ..Subject::new(labels, k, Some(samples)) })
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn a_planted_rule_is_found_and_scored_on_other_rows() {
    // A cluster where a > 2 and b <= 1; the third column is noise.
    let mut random = Stream::new(1, 1);
    let rows: Vec<[f64; 3]> =
        (0..2000).map(|_| [4.0 * random.uniform(), 2.0 * random.uniform(), random.normal()]).collect();
    let labels: Vec<u32> = rows.iter().map(|[a, b, _]| u32::from(*a > 2.0 && *b <= 1.0)).collect();
    let told = told(&rows.concat(), 2000, &labels, 2, &names(&["a", "b", "noise"]));
    let rule = told.clusters[1].rule.as_ref().unwrap();
    assert_eq!(rule.conditions.len(), 2, "{}", rule.words());
    assert!(rule.precision > 0.95 && rule.recall > 0.95, "{rule:?}");
    let a = rule.conditions.iter().find(|condition| condition.name == "a").unwrap();
    let b = rule.conditions.iter().find(|condition| condition.name == "b").unwrap();
    assert!(
        (a.above.unwrap() - 2.0).abs() < 0.1 && (b.at_most.unwrap() - 1.0).abs() < 0.05,
        "{}",
        rule.words()
    );
    assert_eq!(rule.rows[0] + rule.rows[1], 2000);
}

#[test]
fn a_rule_of_noise_does_not_flatter_itself() {
    let mut random = Stream::new(2, 1);
    let rows: Vec<f64> = (0..1000 * 20).map(|_| random.normal()).collect();
    let labels: Vec<u32> = (0..1000).map(|_| u32::from(random.uniform() < 0.3)).collect();
    let told = told(&rows, 1000, &labels, 2, &[]);
    let rule = told.clusters[1].rule.as_ref().unwrap();
    assert!(rule.precision < 0.4, "{rule:?}");
}

#[test]
fn effects_are_in_spreads_of_the_data_as_it_was() {
    let mut random = Stream::new(3, 1);
    let labels: Vec<u32> = (0..4000).map(|i| u32::from(i % 4 == 0)).collect();
    let rows: Vec<f64> =
        labels.iter().flat_map(|l| [random.normal() + 3.0 * f64::from(*l), random.normal()]).collect();
    let samples = Samples::from_rows(&rows, 4000, 2).unwrap();
    let scaling = Scaling::Columns { origin: vec![50_000.0, 0.0], unit: vec![10_000.0, 1.0] };
    let feature_names = names(&["income", "other"]);
    let subject = Subject {
        scaling: &scaling,
        feature_names: Some(&feature_names),
        ..Subject::new(&labels, 2, Some(samples))
    };
    let told = explain(&subject);
    let mark = &told.clusters[1].marks[0];
    assert!((mark.effect - 3.0).abs() < 0.1, "{mark:?}");
    assert!((mark.here - 80_000.0).abs() < 1_000.0 && (mark.others - 50_000.0).abs() < 1_000.0, "{mark:?}");
    assert!(mark.words.starts_with("income ") && mark.words.ends_with(" spreads above the rest"), "{mark:?}");
    assert_eq!(told.clusters[1].marks.len(), 1, "the other column is alike everywhere");
    let threshold = told.clusters[1].rule.as_ref().unwrap().conditions[0].above.unwrap();
    assert!((60_000.0..75_000.0).contains(&threshold), "{threshold}");
}

#[test]
fn a_cluster_between_two_others_is_called_so() {
    let mut random = Stream::new(4, 1);
    let labels: Vec<u32> = (0..3000).map(|i| i % 3).collect();
    let rows: Vec<f64> = labels.iter().map(|l| 6.0 * f64::from(*l) + random.normal()).collect();
    let told = told(&rows, 3000, &labels, 3, &names(&["x"]));
    let mark = &told.clusters[1].marks[0];
    assert_eq!(mark.direction, Direction::Between);
    assert!((mark.effect - 6.0).abs() < 0.3, "{mark:?}");
    let condition = &told.clusters[1].rule.as_ref().unwrap().conditions[0];
    assert!(condition.above.is_some() && condition.at_most.is_some(), "{condition:?}");
    assert_eq!(told.clusters[2].nearest.as_ref().unwrap().cluster, 1);
}

#[test]
fn categories_are_worded_as_categories() {
    let made = customers(3000, 1.0, 0).unwrap();
    let labels: Vec<u32> = made.truth.iter().map(|class| *class as u32).collect();
    let told = told(&made.data, 3000, &labels, 5, &made.feature_names);
    let plan = |c: usize| told.clusters[c].marks.iter().find(|mark| mark.name.starts_with("plan_")).unwrap();
    assert!(plan(2).words.starts_with("plan = pro for 8"), "{}", plan(2).words);
    assert!(plan(2).here > 0.85 && plan(2).others < 0.2, "{:?}", plan(2));
    // What the generator plants: the second group is young and fills its basket.
    let mark = |name: &str| told.clusters[1].marks.iter().find(|mark| mark.name == name).unwrap();
    assert!(mark("age").effect < -1.0 && mark("basket").effect > 1.0);
    for story in &told.clusters {
        let rule = story.rule.as_ref().unwrap();
        let comparisons: usize = rule
            .conditions
            .iter()
            .map(|c| usize::from(c.above.is_some()) + usize::from(c.at_most.is_some()))
            .sum();
        assert!(comparisons <= 3 && rule.precision > 0.6 && rule.recall > 0.5, "{rule:?}");
    }
}

#[test]
fn terms_of_a_sparse_table_are_counted() {
    let mut random = Stream::new(5, 1);
    let labels: Vec<u32> = (0..400).map(|i| i % 2).collect();
    let rows: Vec<f64> = labels
        .iter()
        .flat_map(|l| {
            let chance = |j: usize| if j == *l as usize { 0.6 } else { 0.03 };
            (0..30)
                .map(|j| if random.uniform() < chance(j) { random.uniform() } else { 0.0 })
                .collect::<Vec<_>>()
        })
        .collect();
    let told = told(&rows, 400, &labels, 2, &[]);
    let mark = told.clusters[1].marks.iter().find(|mark| mark.feature == 1).unwrap();
    assert!(
        mark.words.starts_with("column 1 in 6") || mark.words.starts_with("column 1 in 5"),
        "{}",
        mark.words
    );
    assert!(mark.here > 0.5 && mark.others < 0.1, "{mark:?}");
}

#[test]
fn the_same_words_for_any_number_of_threads() {
    let made = mixture(5000, 12, 6, 1.0, 2).unwrap();
    let labels: Vec<u32> = made.truth.iter().map(|class| *class as u32).collect();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| told(&made.data, 5000, &labels, 6, &made.feature_names));
    let three = pool(3).install(|| told(&made.data, 5000, &labels, 6, &made.feature_names));
    assert_eq!(one, three);
    assert_eq!(Explanation::from_json(&one.to_json()), Some(one));
    assert_eq!(Explanation::from_json("{}"), None);
}

#[test]
fn odd_data_is_no_fault() {
    let huge = [1e308, -1e308, 0.0, 1.0, f64::MIN_POSITIVE, 5.0];
    for (data, n, k) in [(&huge[..], 3, 2), (&[7.0; 12][..], 12, 3), (&[1.0][..], 1, 1)] {
        let labels: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
        let told = told(data, n, &labels, k, &[]);
        assert_eq!(told.clusters.len(), k);
        assert_eq!(Explanation::from_json(&told.to_json()), Some(told));
    }
    // Pairs alone: no columns, but sizes and rows.
    let told = explain(&Subject::new(&[0, 1, 0], 2, None));
    assert_eq!((told.clusters[0].size, told.clusters[0].rule.is_none()), (2, true));
    assert_eq!(told.clusters[1].exemplars[0].row, 1);
}
