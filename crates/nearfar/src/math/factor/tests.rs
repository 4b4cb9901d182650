use super::*;
use crate::math::rng::Stream;

#[test]
fn long_columns_of_few_nonzeros_give_what_all_rows_give() {
    let (n, r) = (LONG + 1000, 3);
    let mut random = Stream::new(5, 0);
    // One column is full, one has a tenth of its rows, one has none.
    let share = [1.0, 0.1, 0.0];
    let mut entry = |j: usize| if random.uniform() < share[j] { random.uniform() } else { 0.0 };
    let values: Vec<f64> = (0..n * r).map(|at| entry(at / n)).collect();
    let d: Vec<f64> = (0..n).map(|_| random.uniform() - 0.5).collect();
    let factor = Factor::new(values, n, r);
    assert_eq!([0, 1, 2].map(|j| factor.sparse(j).is_some()), [false, true, true]);
    let close = |ours: f64, sum: f64| assert!((ours - sum).abs() <= 1e-9 * n as f64, "{ours} and {sum}");
    let gram = factor.gram();
    for i in 0..r {
        let sum = |x: &[f64]| factor.column(i).iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
        (0..r).for_each(|j| close(gram[i * r + j], sum(factor.column(j))));
        close(factor.part(i, 0..n).dot(0, &d), sum(&d));
        let first = 700;
        let mut out = d[first..first + 2000].to_vec();
        factor.part(i, first..first + 2000).add_to(2.0, first, &mut out);
        for (at, out) in out.iter().enumerate() {
            assert_eq!(*out, d[first + at] + 2.0 * factor.get(first + at, i));
        }
    }
}

#[test]
fn a_moved_column_is_what_the_formula_says() {
    let n = 3000;
    let mut random = Stream::new(6, 0);
    // Entries that stay, that rise from 0, that fall, to 0 and below, and that become dust.
    let values: Vec<f64> = (0..n).map(|_| (random.uniform() - 0.5).max(0.0)).collect();
    let d: Vec<f64> = values
        .iter()
        .map(|v| match random.below(4) {
            0 => 0.0,
            1 => random.uniform() * 1e-3,
            2 => -random.uniform() * v,
            _ => -1.5 * v,
        })
        .collect();
    let (scale, dust) = (0.7, 1e-3);
    let moved: Vec<f64> = values.iter().zip(&d).map(|(v, d)| (v + scale * d).max(0.0)).collect();
    let least = dust * moved.iter().copied().fold(0.0, f64::max);
    let wanted: Vec<f64> = moved.iter().map(|v| if *v < least { 0.0 } else { *v }).collect();
    assert!((1..n).contains(&moved.iter().zip(&wanted).filter(|(a, b)| a != b).count()), "nothing is dust");
    let mut nonzeros = Nonzeros::default();
    nonzeros.append(0, &d);
    let mut factor = Factor::new(values.clone(), n, 1);
    let length2 = factor.move_column(0, scale, &nonzeros, dust);
    assert!((length2 - kernel::norm2(&wanted)).abs() < 1e-12 * length2);
    // The index too is that of a factor made of these values.
    assert_eq!(factor, Factor::new(wanted, n, 1));
    let by_rows = factor.by_rows().clone();
    assert!((0..n).all(|i| by_rows.row(i).map(|(_, v)| v).sum::<f64>() == factor.get(i, 0)));
    factor.clear_column(0);
    assert_eq!((factor.n_nonzero(), factor.by_rows().n_nonzero(0)), (0, 0));
}
