//! What the paper's tables say, in the order of [`super::data::EIGHT`].

/// Mean and standard deviation over 20 runs; the ablation tables give no deviation.
pub(crate) type Cell = (f64, Option<f64>);

/// A method's row: name, ACC and NMI of the eight datasets.
pub(crate) type PaperRow = (&'static str, [Cell; 8], [Cell; 8]);

/// The comparison, the ablations and the two tables of regularisers. (tab:clustering, tab:ablation, tab:ablation_model_orth, tab:ablation_AOSymNMF)
#[rustfmt::skip]
pub(crate) const PAPER: [PaperRow; 20] = [
    ("symnmf", [(0.658, Some(0.126)), (0.458, Some(0.018)), (0.616, Some(0.022)), (0.632, Some(0.059)), (0.514, Some(0.041)), (0.503, Some(0.038)), (0.535, Some(0.042)), (0.547, Some(0.066))],
        [(0.4, Some(0.147)), (0.522, Some(0.017)), (0.789, Some(0.01)), (0.71, Some(0.066)), (0.529, Some(0.03)), (0.689, Some(0.021)), (0.523, Some(0.026)), (0.553, Some(0.043))]),
    ("anls", [(0.753, Some(0.132)), (0.459, Some(0.017)), (0.614, Some(0.013)), (0.643, Some(0.056)), (0.531, Some(0.044)), (0.557, Some(0.037)), (0.567, Some(0.053)), (0.576, Some(0.052))],
        [(0.551, Some(0.143)), (0.526, Some(0.012)), (0.787, Some(0.007)), (0.767, Some(0.041)), (0.553, Some(0.028)), (0.743, Some(0.027)), (0.562, Some(0.042)), (0.585, Some(0.036))]),
    ("sbsum", [(0.84, Some(0.029)), (0.461, Some(0.013)), (0.62, Some(0.014)), (0.595, Some(0.057)), (0.562, Some(0.047)), (0.644, Some(0.066)), (0.565, Some(0.067)), (0.615, Some(0.06))],
        [(0.646, Some(0.029)), (0.527, Some(0.009)), (0.791, Some(0.007)), (0.784, Some(0.04)), (0.578, Some(0.03)), (0.833, Some(0.026)), (0.62, Some(0.041)), (0.632, Some(0.026))]),
    ("phals", [(0.789, Some(0.12)), (0.467, Some(0.015)), (0.621, Some(0.015)), (0.646, Some(0.062)), (0.532, Some(0.041)), (0.658, Some(0.043)), (0.603, Some(0.051)), (0.594, Some(0.043))],
        [(0.58, Some(0.141)), (0.53, Some(0.008)), (0.789, Some(0.007)), (0.79, Some(0.028)), (0.568, Some(0.023)), (0.819, Some(0.024)), (0.613, Some(0.036)), (0.617, Some(0.022))]),
    ("gsnmf", [(0.647, Some(0.092)), (0.455, Some(0.024)), (0.62, Some(0.017)), (0.647, Some(0.087)), (0.498, Some(0.05)), (0.504, Some(0.034)), (0.493, Some(0.043)), (0.495, Some(0.038))],
        [(0.392, Some(0.091)), (0.522, Some(0.017)), (0.786, Some(0.009)), (0.714, Some(0.053)), (0.508, Some(0.042)), (0.678, Some(0.025)), (0.423, Some(0.041)), (0.488, Some(0.03))]),
    ("nmfan", [(0.876, Some(0.008)), (0.45, Some(0.017)), (0.678, Some(0.007)), (0.627, Some(0.075)), (0.463, Some(0.029)), (0.66, Some(0.016)), (0.516, Some(0.044)), (0.611, Some(0.044))],
        [(0.642, Some(0.014)), (0.501, Some(0.014)), (0.83, Some(0.006)), (0.626, Some(0.025)), (0.445, Some(0.037)), (0.756, Some(0.017)), (0.457, Some(0.027)), (0.554, Some(0.031))]),
    ("cgsymnmf", [(0.755, Some(0.109)), (0.459, Some(0.032)), (0.621, Some(0.025)), (0.661, Some(0.08)), (0.487, Some(0.042)), (0.591, Some(0.048)), (0.506, Some(0.042)), (0.48, Some(0.037))],
        [(0.548, Some(0.096)), (0.522, Some(0.021)), (0.8, Some(0.013)), (0.704, Some(0.065)), (0.495, Some(0.041)), (0.769, Some(0.031)), (0.501, Some(0.036)), (0.465, Some(0.035))]),
    ("rbsmf", [(0.897, Some(0.012)), (0.462, Some(0.014)), (0.645, Some(0.007)), (0.568, Some(0.0)), (0.571, Some(0.002)), (0.8, Some(0.0)), (0.665, Some(0.011)), (0.637, Some(0.041))],
        [(0.687, Some(0.021)), (0.534, Some(0.003)), (0.806, Some(0.004)), (0.801, Some(0.001)), (0.627, Some(0.002)), (0.892, Some(0.0)), (0.654, Some(0.008)), (0.649, Some(0.016))]),
    ("s3nmf", [(0.835, Some(0.041)), (0.45, Some(0.008)), (0.617, Some(0.007)), (0.829, Some(0.016)), (0.65, Some(0.021)), (0.781, Some(0.015)), (0.664, Some(0.02)), (0.704, Some(0.017))],
        [(0.647, Some(0.055)), (0.512, Some(0.006)), (0.787, Some(0.004)), (0.809, Some(0.017)), (0.625, Some(0.016)), (0.86, Some(0.007)), (0.636, Some(0.015)), (0.665, Some(0.011))]),
    ("lsdg", [(0.887, Some(0.016)), (0.539, Some(0.02)), (0.683, Some(0.014)), (0.733, Some(0.057)), (0.61, Some(0.027)), (0.833, Some(0.015)), (0.698, Some(0.023)), (0.734, Some(0.055))],
        [(0.709, Some(0.021)), (0.586, Some(0.012)), (0.846, Some(0.006)), (0.809, Some(0.011)), (0.627, Some(0.015)), (0.923, Some(0.012)), (0.691, Some(0.011)), (0.678, Some(0.021))]),
    ("lsdg without both", [(0.79, None), (0.513, None), (0.668, None), (0.864, None), (0.412, None), (0.56, None), (0.487, None), (0.536, None)],
        [(0.545, None), (0.554, None), (0.798, None), (0.824, None), (0.386, None), (0.727, None), (0.441, None), (0.493, None)]),
    ("lsdg without orthogonality", [(0.896, None), (0.492, None), (0.635, None), (0.672, None), (0.502, None), (0.749, None), (0.657, None), (0.601, None)],
        [(0.722, None), (0.544, None), (0.83, None), (0.807, None), (0.531, None), (0.887, None), (0.623, None), (0.621, None)]),
    ("lsdg without D", [(0.878, None), (0.518, None), (0.672, None), (0.686, None), (0.608, None), (0.784, None), (0.661, None), (0.76, None)],
        [(0.695, None), (0.575, None), (0.832, None), (0.8, None), (0.618, None), (0.888, None), (0.658, None), (0.682, None)]),
    ("lsdg, off-diagonal", [(0.853, None), (0.5, None), (0.666, None), (0.662, None), (0.517, None), (0.715, None), (0.656, None), (0.591, None)],
        [(0.654, None), (0.555, None), (0.83, None), (0.799, None), (0.542, None), (0.831, None), (0.645, None), (0.604, None)]),
    ("lsdg, log-det", [(0.846, None), (0.498, None), (0.652, None), (0.661, None), (0.565, None), (0.711, None), (0.678, None), (0.625, None)],
        [(0.632, None), (0.552, None), (0.829, None), (0.8, None), (0.581, None), (0.833, None), (0.66, None), (0.623, None)]),
    ("lsdg, proposed by products", [(0.87, None), (0.49, None), (0.672, None), (0.661, None), (0.569, None), (0.718, None), (0.679, None), (0.64, None)],
        [(0.672, None), (0.552, None), (0.832, None), (0.802, None), (0.589, None), (0.833, None), (0.666, None), (0.631, None)]),
    ("aosymnmf, off-diagonal", [(0.672, None), (0.463, None), (0.619, None), (0.634, None), (0.537, None), (0.512, None), (0.549, None), (0.55, None)],
        [(0.429, None), (0.535, None), (0.787, None), (0.714, None), (0.549, None), (0.695, None), (0.541, None), (0.541, None)]),
    ("aosymnmf, log-det", [(0.722, None), (0.462, None), (0.628, None), (0.62, None), (0.534, None), (0.549, None), (0.563, None), (0.573, None)],
        [(0.498, None), (0.529, None), (0.793, None), (0.725, None), (0.552, None), (0.725, None), (0.556, None), (0.58, None)]),
    ("aosymnmf, proposed by products", [(0.8, None), (0.462, None), (0.626, None), (0.615, None), (0.541, None), (0.562, None), (0.592, None), (0.587, None)],
        [(0.557, None), (0.527, None), (0.791, None), (0.711, None), (0.56, None), (0.739, None), (0.568, None), (0.588, None)]),
    ("aosymnmf, proposed by columns", [(0.835, None), (0.468, None), (0.63, None), (0.634, None), (0.568, None), (0.717, None), (0.64, None), (0.623, None)],
        [(0.634, None), (0.532, None), (0.796, None), (0.784, None), (0.593, None), (0.868, None), (0.656, None), (0.637, None)]),
];
