//! Lists of indexes as Indexed Jobs write them: `1,3-5,7`, growing and below the number
//! of completions.

/// How many indexes a text names, or what is wrong with it.
pub(super) fn count_indexes(text: &str, completions: i64) -> Result<i64, String> {
    let mut last = None;
    let mut total = 0;
    if text.is_empty() {
        return Ok(0);
    }
    for interval in text.split(',') {
        let (first, end) = parse_interval(interval, completions)?;
        if let Some(last) = last
            && last >= first
        {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first index that two texts share. Intervals that cannot be read are passed over:
/// they are reported where the format is checked.
pub(super) fn first_shared_index(one: &str, other: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|interval| parse_interval(interval, completions).ok()).collect()
    };
    let (one, other) = (intervals(one), intervals(other));
    let (mut a, mut b) = (one.iter().peekable(), other.iter().peekable());
    while let (Some((a_first, a_end)), Some((b_first, b_end))) = (a.peek(), b.peek()) {
        if a_first <= b_end && b_first <= a_end {
            return Some(*a_first.max(b_first));
        }
        if a_first <= b_first {
            a.next();
        } else {
            b.next();
        }
    }
    None
}

fn parse_interval(interval: &str, completions: i64) -> Result<(i64, i64), String> {
    let parse = |text: &str| {
        let number =
            text.parse::<i64>().map_err(|_| format!("cannot convert string to integer for index: {text:?}"))?;
        if number >= completions { Err(format!("too large index: {text:?}")) } else { Ok(number) }
    };
    let parts: Vec<&str> = interval.split('-').collect();
    match parts[..] {
        [one] => parse(one).map(|number| (number, number)),
        [first, end] => {
            let (first, end) = (parse(first)?, parse(end)?);
            if first >= end {
                return Err(format!("non-increasing order, previous: {first}, current: {end}"));
            }
            Ok((first, end))
        }
        _ => Err(format!(
            "the fragment {interval:?} violates the requirement that an index interval can have at most two parts separated by '-'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_grow_and_stay_below_the_completions() {
        assert_eq!(count_indexes("", 5), Ok(0));
        assert_eq!(count_indexes("0,2-4", 5), Ok(4));
        assert_eq!(count_indexes("0,0", 5), Err("non-increasing order, previous: 0, current: 0".into()));
        assert_eq!(count_indexes("3-1", 5), Err("non-increasing order, previous: 3, current: 1".into()));
        assert_eq!(count_indexes("5", 5), Err("too large index: \"5\"".into()));
        assert_eq!(count_indexes("a", 5), Err("cannot convert string to integer for index: \"a\"".into()));
        assert!(count_indexes("1-2-3", 5).is_err());
    }

    #[test]
    fn shared_indexes_are_found() {
        assert_eq!(first_shared_index("0,4-6", "1-3", 10), None);
        assert_eq!(first_shared_index("0,4-6", "2,x,6-8", 10), Some(6));
        assert_eq!(first_shared_index("", "1", 10), None);
    }
}
