//! A largest assignment of expected calls to calls, each of which is used once (maximum bipartite matching with augmenting paths).
//!
//! Hand-written: 30 lines, for which every user would compile a graph library such as `petgraph`.

/// The index of the call that each expected call is assigned to. `fits[item]` are the indices of the calls that it matches, in the order
/// in which they are preferred.
pub(super) fn assign(fits: &[Vec<usize>], calls: usize) -> Vec<Option<usize>> {
    let mut item_of: Vec<Option<usize>> = vec![None; calls];
    for item in 0..fits.len() {
        make_room(item, fits, &mut item_of);
    }
    let mut call_of = vec![None; fits.len()];
    for (call, item) in item_of.into_iter().enumerate() {
        if let Some(item) = item {
            call_of[item] = Some(call);
        }
    }
    call_of
}

/// Assigns an item to a call, if need be by assigning other items to other calls: searches breadth first for a call that is free.
fn make_room(item: usize, fits: &[Vec<usize>], item_of: &mut [Option<usize>]) {
    // The item through which the search reached a call.
    let mut reached_from: Vec<Option<usize>> = vec![None; item_of.len()];
    let mut queue = std::collections::VecDeque::from([item]);
    while let Some(current) = queue.pop_front() {
        for &call in &fits[current] {
            if reached_from[call].is_some() {
                continue;
            }
            reached_from[call] = Some(current);
            match item_of[call] {
                Some(other) => queue.push_back(other),
                None => return reassign(call, item, &reached_from, item_of),
            }
        }
    }
}

/// Assigns the free call to the item that reached it, the call that this item had to the item that reached that one, and so on.
fn reassign(free: usize, last: usize, reached_from: &[Option<usize>], item_of: &mut [Option<usize>]) {
    let mut call = free;
    while let Some(item) = reached_from[call] {
        let before = item_of.iter().position(|assigned| *assigned == Some(item));
        item_of[call] = Some(item);
        match before {
            Some(before) if item != last => call = before,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::assign;

    #[test]
    fn an_item_gives_way_to_one_that_has_no_other_call() {
        assert_eq!(assign(&[vec![0, 1], vec![0]], 2), [Some(1), Some(0)]);
        assert_eq!(assign(&[vec![0], vec![0, 1]], 2), [Some(0), Some(1)]);
        assert_eq!(assign(&[vec![0, 1], vec![0, 2], vec![0]], 3), [Some(1), Some(2), Some(0)]);
    }

    #[test]
    fn a_call_is_used_once() {
        assert_eq!(assign(&[vec![0], vec![0], vec![0]], 1), [Some(0), None, None]);
        assert_eq!(assign(&[vec![], vec![1]], 2), [None, Some(1)]);
        assert_eq!(assign(&[], 0), []);
    }

    #[test]
    fn long_chains_are_followed() {
        let items = 2000;
        let mut fits: Vec<Vec<usize>> = (0..items).map(|item| vec![item, item + 1]).collect();
        fits.push(vec![0]);
        let assigned = assign(&fits, items + 1);
        assert!(assigned.iter().all(Option::is_some));
    }
}
