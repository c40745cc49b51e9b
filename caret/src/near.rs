//! Guesses what somebody meant who mistyped a name.

/// The names nearest to `word`, nearest first; none if nothing is near.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = word.trim_start_matches('-').to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let plain = name.trim_start_matches('-').to_lowercase();
            let longer = plain.chars().count().max(wanted.chars().count());
            let far = distance(&wanted, &plain);
            (far <= 3 && longer > 1 && far * 5 < longer * 3).then_some((far, name))
        })
        .collect();
    near.sort();
    let best = near.first().map_or(0, |(far, _)| *far);
    near.into_iter().take_while(|(far, _)| *far == best).map(|(_, name)| name).collect()
}

/// A second line that names what may have been meant, or nothing.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, names).as_slice() {
        [] => String::new(),
        [one] => format!("\n(Did you mean {one}?)"),
        several => format!("\n(Did you mean one of {}?)", several.join(", ")),
    }
}

/// How many letters must be added, dropped, changed or swapped to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().take(64).collect(), to.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            let mut best = changed.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && from[row - 1] == *other && *letter == to[column - 1] {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_offered() {
        let names = ["--force", "--model", "--mode", "--print", "--plan", "--resume"];
        for (word, expected) in [
            ("--forse", vec!["--force"]),
            ("--pritn", vec!["--print"]),
            ("--modl", vec!["--mode", "--model"]),
            ("--zzz", vec![]),
            ("- item one", vec![]),
            ("-x", vec![]),
        ] {
            assert_eq!(nearest(word, names), expected, "{word}");
        }
    }
}
