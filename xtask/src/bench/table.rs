//! The figures, with the limits they have to keep.

/// One figure.
struct Row {
    what: String,
    figure: String,
    limit: String,
    kept: bool,
}

/// All figures of a run.
#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    /// A figure that must not be larger than `limit`.
    pub(crate) fn at_most(&mut self, what: &str, figure: f64, limit: f64, unit: &str) {
        self.0.push(Row {
            what: what.into(),
            figure: format!("{figure:.2} {unit}").trim_end().into(),
            limit: format!("≤ {limit} {unit}").trim_end().into(),
            kept: figure <= limit,
        });
    }

    /// A figure that is only told.
    pub(crate) fn told(&mut self, what: &str, figure: f64, unit: &str) {
        let figure = format!("{figure:.2} {unit}");
        self.0.push(Row { what: what.into(), figure, limit: String::new(), kept: true });
    }

    /// Whether every limit was kept.
    pub(crate) fn all_kept(&self) -> bool {
        self.0.iter().all(|row| row.kept)
    }

    /// Prints the table as it stands in BENCHMARKS.md.
    pub(crate) fn print(&self) {
        println!("\n| what | figure | limit | |\n|---|---|---|---|");
        for Row { what, figure, limit, kept } in &self.0 {
            let verdict = match (limit.is_empty(), kept) {
                (true, _) => "",
                (false, true) => "kept",
                (false, false) => "NOT KEPT",
            };
            println!("| {what} | {figure} | {limit} | {verdict} |");
        }
    }
}
