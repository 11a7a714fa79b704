use super::*;
use crate::time::EventTime;
use proptest::prelude::*;

fn mark(t: i64) -> Watermark {
    Watermark(EventTime::from_millis(t))
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Mark(u32, i64),
    Idle(u32),
    Wake(u32),
    End(u32),
}

/// B11: two inputs fall silent at 5 and at 4; the order does not matter, and nothing steps back.
#[test]
fn all_idle_is_the_maximum_whatever_the_order() {
    for order in [[0, 1], [1, 0]] {
        let mut frontier = Frontier::new(2);
        let mut told = Vec::new();
        told.extend(frontier.watermark(LinkIndex(0), mark(5)));
        told.extend(frontier.watermark(LinkIndex(1), mark(4)));
        for link in order {
            told.extend(frontier.idle(LinkIndex(link)));
        }
        assert!(told.contains(&Advance::To(mark(5))), "{told:?}");
        frontier.wake(LinkIndex(1));
        assert_eq!(frontier.watermark(LinkIndex(1), mark(4)), None);
        assert_eq!(frontier.watermark(LinkIndex(1), mark(6)), Some(Advance::To(mark(6))));
    }
}

#[test]
fn an_ended_input_holds_nothing_back() {
    let mut frontier = Frontier::new(2);
    assert_eq!(frontier.watermark(LinkIndex(0), mark(9)), None);
    assert_eq!(frontier.end(LinkIndex(1)), Some(Advance::To(mark(9))));
    assert_eq!(frontier.end(LinkIndex(0)), None);
}

/// The rule, written down without any cleverness.
fn naive(inputs: &[(Option<i64>, char)]) -> Option<i64> {
    let of = |kind| inputs.iter().filter(move |(_, k)| *k == kind).map(|(w, _)| *w);
    if of('a').next().is_some() { of('a').min().flatten() } else { of('i').max().flatten() }
}

proptest! {
    #[test]
    fn the_frontier_follows_the_rule(
        inputs in 1_usize..5,
        actions in prop::collection::vec(prop_oneof![
            4 => (0_u32..5, -50_i64..50).prop_map(|(l, t)| Action::Mark(l, t)),
            1 => (0_u32..5).prop_map(Action::Idle),
            1 => (0_u32..5).prop_map(Action::Wake),
            1 => (0_u32..5).prop_map(Action::End),
        ], 0..80),
    ) {
        let mut frontier = Frontier::new(inputs);
        let mut model = vec![(None::<i64>, 'a'); inputs];
        let mut told = None::<i64>;
        for action in actions {
            let (Action::Mark(link, _) | Action::Idle(link) | Action::Wake(link) | Action::End(link)) = action;
            let at = link as usize % inputs;
            let link = LinkIndex(at as u32);
            // After its end nothing comes over a link.
            if model[at].1 == 'e' {
                continue;
            }
            let advance = match action {
                Action::Mark(_, t) => {
                    model[at] = (model[at].0.max(Some(t)), 'a');
                    frontier.watermark(link, mark(t))
                }
                Action::Idle(_) => {
                    model[at].1 = 'i';
                    frontier.idle(link)
                }
                Action::Wake(_) => {
                    model[at].1 = 'a';
                    frontier.wake(link);
                    None
                }
                Action::End(_) => {
                    model[at].1 = 'e';
                    frontier.end(link)
                }
            };
            let expected = told.max(naive(&model));
            match advance {
                Some(Advance::To(w)) => {
                    prop_assert!(Some(w.0.as_millis()) > told);
                    prop_assert_eq!(Some(w.0.as_millis()), expected);
                    told = expected;
                }
                Some(Advance::Idle) => prop_assert!(model.iter().all(|(_, k)| *k != 'a')),
                None if !matches!(action, Action::Wake(_)) => prop_assert_eq!(told, expected),
                None => {}
            }
        }
    }
}
